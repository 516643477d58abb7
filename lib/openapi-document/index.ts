export { indexBytes } from './index-weight.ts';
export { openApiLimits } from './limits.ts';
export { type OpenApiIndex, type OpenApiReading, originOf, type UpstreamOperation } from './operation.ts';
export { type PackedReading, packReading, unpackReading } from './packed-reading.ts';
export { readOpenApi } from './read-openapi.ts';

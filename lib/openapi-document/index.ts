export { openApiLimits } from './limits.ts';
export { type Operation, type OpenApiIndex, type OpenApiReading, readOpenApi } from './read-openapi.ts';

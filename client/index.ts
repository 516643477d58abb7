export { type ErrorBody, type Problem, WindlassApiError, WindlassConnectionError } from './api-error.ts';
export type * from './generated/operations.ts';
export type { ByteStream, CallOptions, ServerEvent } from './operation.ts';
export { type ClientOptions, createWindlassClient, type WindlassClient } from './windlass-client.ts';

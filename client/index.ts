export { type ErrorBody, type Problem, WindlassApiError, WindlassConnectionError } from './api-error.ts';
export type * as Gateway from './generated/gateway-operations.ts';
export type * from './generated/operations.ts';
export type { ByteStream, CallOptions, ServerEvent } from './operation.ts';
export {
  type ClientOptions,
  createGatewayClient,
  createWindlassClient,
  type GatewayClient,
  type WindlassClient,
} from './windlass-client.ts';

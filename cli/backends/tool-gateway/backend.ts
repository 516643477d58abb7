import type { GatewayClient, WindlassClient } from '../../../client/index.ts';

/** The way to the tool gateway, with the token of an operator. */
export interface GatewayBackend {
  readonly client: GatewayClient;
  readonly address: string;
  /** The HTTP API, whose key vouches for sessions. Throws a usage error where nothing says where it is. */
  api(): Pick<WindlassClient, 'issueSealToken'>;
}

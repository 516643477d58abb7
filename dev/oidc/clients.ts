import type { Adapter, ClientMetadata } from 'oidc-provider';
import { parsePerson } from './person.ts';

/** The client of the command line and of scripts: no secret, the code flow to any port of loopback, and the device flow. */
export const publicClient = 'windlass-cli';
export const callback = 'http://127.0.0.1/callback';

/** The secret of every service account. */
export const serviceSecret = 'development-only';

export const staticClients: ClientMetadata[] = [
  {
    client_id: publicClient,
    client_name: 'Windlass',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
  },
];

/** Every other client id is that of a service account, which exists on its first request. */
export function withServiceAccounts(adapter: Adapter): Adapter {
  return { ...adapter, find: async (id) => (parsePerson(id).name === '' ? undefined : serviceAccount(id)) };
}

function serviceAccount(id: string): ClientMetadata {
  return {
    client_id: id,
    client_secret: serviceSecret,
    token_endpoint_auth_method: 'client_secret_post',
    redirect_uris: [],
    grant_types: ['client_credentials'],
    response_types: [],
  };
}

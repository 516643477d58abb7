import type { Contract } from '../../../lib/http/contract.ts';
import { defineRoute, json, type Route, type RouteRequest } from '../../../lib/http/route.ts';
import type { IdentityConfig } from '../../../lib/identity/index.ts';
import { readProtectedResource } from './contract.ts';

export const contracts: readonly Contract[] = [readProtectedResource];

export interface DiscoveryDeps {
  readonly config: Pick<
    IdentityConfig,
    'WINDLASS_OIDC_ISSUER' | 'WINDLASS_OIDC_CLIENT_ID' | 'WINDLASS_OIDC_CLIENT_SCOPES'
  > & { readonly WINDLASS_PUBLIC_URL?: string };
}

/** Holds only facts that every user may know before login. */
export function createDiscoveryRoutes<Caller>({ config }: DiscoveryDeps): Route<Caller>[] {
  const { WINDLASS_OIDC_ISSUER: issuer, WINDLASS_OIDC_CLIENT_ID: clientId } = config;
  const scopes = config.WINDLASS_OIDC_CLIENT_SCOPES.split(' ').filter((scope) => scope !== '');
  return [
    defineRoute<typeof readProtectedResource, Caller>(readProtectedResource, async (request) =>
      json({
        resource: config.WINDLASS_PUBLIC_URL ?? addressOf(request),
        authorization_servers: [issuer],
        scopes_supported: scopes,
        bearer_methods_supported: ['header'],
        windlass_client_id: clientId,
      }),
    ),
  ];
}

/** As the client has written it, which the listener has checked; a proxy that ends TLS before us says so. */
function addressOf({ rawHeaders }: Pick<RouteRequest<typeof readProtectedResource, unknown>, 'rawHeaders'>): string {
  const headers = new Map(rawHeaders);
  const scheme = headers.get('x-forwarded-proto') === 'https' ? 'https' : 'http';
  const address = `${scheme}://${headers.get('host') ?? ''}/`;
  return URL.canParse(address) ? new URL(address).href : 'http://localhost/';
}

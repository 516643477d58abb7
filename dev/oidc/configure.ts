import type { JWK } from 'jose';
import type { AccessToken, ClientCredentials, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { staticClients, withServiceAccounts } from './clients.ts';
import type { Memory } from './memory-adapter.ts';
import { codePage, confirmPage, signedInPage } from './pages.ts';
import { claimsOf, type Person, parsePerson } from './person.ts';
import type { TokenAlgorithm } from './signing-keys.ts';

export interface ProviderSettings {
  readonly keys: readonly JWK[];
  readonly algorithm: TokenAlgorithm;
  /** Claim `aud` of every access token. */
  readonly audience: string;
  readonly tokenSeconds: number;
  readonly memory: Memory;
}

/** The only resource there is; tokens are for it whether a client names it or not. */
const resource = 'urn:windlass:api';

/** Behaviour of the certified provider: it believes each user who signs in, and asks none for consent. */
export function configure(settings: ProviderSettings): Configuration {
  const { memory } = settings;
  return {
    adapter: (model) => (model === 'Client' ? withServiceAccounts(memory.adapter(model)) : memory.adapter(model)),
    clients: staticClients,
    jwks: { keys: [...settings.keys] as NonNullable<Configuration['jwks']>['keys'] },
    // Known to everybody who reads this: it protects nothing that this provider does not give away anyhow.
    cookies: { keys: ['development-only'] },
    scopes: ['openid', 'offline_access'],
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: parsePerson(id).name }) }),
    loadExistingGrant: grantEverything,
    extraTokenClaims: (_, token) => claimsOf(bearerOf(token)),
    formats: {
      customizers: {
        jwt: (_, token, { payload }) => {
          payload.sub = bearerOf(token).name;
        },
      },
    },
    features: {
      devInteractions: { enabled: false },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form, _, error) => void (ctx.body = codePage(form, error !== undefined)),
        userCodeConfirmSource: (ctx, form, ...[, , code]) => void (ctx.body = confirmPage(form, code)),
        successSource: (ctx) => void (ctx.body = signedInPage),
      },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience: settings.audience,
          accessTokenTTL: settings.tokenSeconds,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: settings.algorithm } },
        }),
      },
    },
    ttl: {
      AccessToken: settings.tokenSeconds,
      AuthorizationCode: 60,
      ClientCredentials: settings.tokenSeconds,
      DeviceCode: 600,
      Grant: 86_400,
      IdToken: 3_600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  };
}

/** A machine is its client, named as providers name service accounts. */
function bearerOf(token: AccessToken | ClientCredentials): Person {
  if (token.kind === 'AccessToken') return parsePerson(token.accountId);
  const machine = parsePerson(token.clientId ?? '');
  return { ...machine, username: machine.username ?? `service-account-${machine.name}` };
}

async function grantEverything({ oidc }: KoaContextWithOIDC) {
  const { provider, client, session, params } = oidc;
  const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
  grant.addOIDCScope(typeof params?.scope === 'string' ? params.scope : 'openid');
  await grant.save();
  return grant;
}

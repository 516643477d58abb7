import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import { credentialProblems } from '../api-spec/credential-problems.ts';
import { type Credential, noCredential } from './credential.ts';
import { secretOf } from './credential-keys.ts';
import { credentialFailed, readSecret, type SecretReader, type SecretValues } from './read-secret.ts';
import type { TokenExchange } from './token-exchange.ts';

/** How calls to registered APIs are authenticated (spec 3 §2.4). */
export interface Credentials {
  /**
   * The credential of a call to the server of an ApiSpec. The Secret is in the namespace of the ApiSpec.
   * @throws AppError with the reason CredentialFailed; the message holds nothing of the Secret.
   */
  resolve(tenant: string, spec: ApiSpec): Promise<Credential>;
}

interface CredentialsDeps extends SecretReader {
  readonly tokens: TokenExchange;
}

type Settings = NonNullable<ApiSpec['spec']['credentials']>;

export function createCredentials({ kube, clock, tokens }: CredentialsDeps): Credentials {
  return {
    async resolve(tenant, { metadata, spec }) {
      const settings = spec.credentials ?? { kind: 'none' };
      if (settings.kind === 'none') return noCredential;
      const [problem] = credentialProblems(spec);
      if (problem !== undefined) throw credentialFailed(`${problem.path} of the ApiSpec ${problem.message}`);
      const secret = await readSecret({ kube, clock }, secretOf(metadata, settings));
      if (settings.kind !== 'oauth2_client_credentials') return fixed(settings, secret);
      const { token_url: tokenUrl, scopes = [], audience } = settings;
      const request = {
        tenant,
        key: JSON.stringify([secret.version, tokenUrl, scopes, audience]),
        tokenUrl,
        clientId: secret.value('client_id'),
        clientSecret: secret.value('client_secret'),
        scopes,
        audience,
        allowedNetworks: spec.allow_internal_addresses ?? [],
      };
      const token = await tokens.token(request);
      return { ...bearer(token), refused: () => tokens.forget(request, token) };
    },
  };
}

type Fixed = Exclude<Settings, { kind: 'none' | 'oauth2_client_credentials' }>;

/** Each kind of credential whose value is in the Secret itself. */
const fixedKinds: {
  readonly [K in Fixed['kind']]: (settings: Extract<Fixed, { kind: K }>, secret: SecretValues) => Credential;
} = {
  static_header: ({ header }, secret) => inHeader(header, secret.value('value')),
  basic(_settings, secret) {
    const [user, password] = [secret.value('username'), secret.value('password')];
    const pair = Buffer.from(`${user}:${password}`).toString('base64');
    return { headers: { authorization: `Basic ${pair}` }, secrets: [pair, password] };
  },
  bearer: (_settings, secret) => bearer(secret.value('token')),
  api_key_header: ({ header }, secret) => inHeader(header, secret.value('key')),
  api_key_query({ param }, secret) {
    const value = secret.value('key');
    return { headers: {}, query: { name: param, value }, secrets: [value, encodeURIComponent(value)] };
  },
};

const inHeader = (name: string, value: string): Credential => ({ headers: { [name]: value }, secrets: [value] });

function fixed(settings: Fixed, secret: SecretValues): Credential {
  // The kind picks the function and the settings together, which the type system cannot see through a union.
  const read = fixedKinds[settings.kind] as (settings: Fixed, secret: SecretValues) => Credential;
  return read(settings, secret);
}

const bearer = (token: string): Credential => ({ headers: { authorization: `Bearer ${token}` }, secrets: [token] });

import type { ApiSpec } from '../../crds/schema/api-spec.ts';

type Settings = Exclude<NonNullable<ApiSpec['spec']['credentials']>, { kind: 'none' }>;

/** Keys of the Secret that each kind of credential needs. */
const credentialKeys: { readonly [K in Settings['kind']]: readonly string[] } = {
  static_header: ['value'],
  basic: ['username', 'password'],
  bearer: ['token'],
  api_key_header: ['key'],
  api_key_query: ['key'],
  oauth2_client_credentials: ['client_id', 'client_secret'],
};

/** The Secret of a credential, which is in the namespace of the ApiSpec, and the keys that it needs. */
export const secretOf = ({ namespace = '' }: ApiSpec['metadata'], { kind, secret }: Settings) => ({
  namespace,
  name: secret.name,
  keys: credentialKeys[kind],
});

export { createCredentials, type Credentials } from './create-credentials.ts';
export { type Credential, noCredential } from './credential.ts';
export { createTokenExchange } from './token-exchange.ts';
export { secretPlaces, withoutSecrets } from './without-secrets.ts';

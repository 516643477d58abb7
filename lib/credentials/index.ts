export { createCredentials, type Credentials } from './create-credentials.ts';
export { type Credential, credentialLimits, noCredential } from './credential.ts';
export { credentialLabel } from './read-secret.ts';
export { createTokenExchange } from './token-exchange.ts';
export { withoutSecrets } from './without-secrets.ts';

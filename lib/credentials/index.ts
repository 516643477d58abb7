export {
  askCredentialProblem,
  type CredentialFinding,
  credentialService,
  readCredentialQuery,
} from './credential-service.ts';
export { createCredentials, type Credentials } from './create-credentials.ts';
export { type Credential, noCredential } from './credential.ts';
export type { SecretReader } from './read-secret.ts';
export { createProblemFinder, type FindCredentialProblem } from './find-problem.ts';
export { createTokenExchange } from './token-exchange.ts';
export { secretPlaces, withoutSecrets } from './without-secrets.ts';

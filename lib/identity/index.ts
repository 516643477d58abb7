export { defaultAlgorithms, type SignatureAlgorithm, signatureAlgorithms } from './algorithms.ts';
export { bearerToken } from './bearer-token.ts';
export { claimAt, listClaim, textClaim, validUntil } from './claims.ts';
export { createOidcVerifier, type OidcVerifierOptions } from './oidc-verifier.ts';
export { parseProviderAddress } from './provider-address.ts';
export { isServiceAccount, type ServiceAccountRule } from './service-account.ts';
export type { Claims, TokenVerifier } from './token-verifier.ts';

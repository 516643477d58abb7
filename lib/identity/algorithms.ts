/** Signatures that a provider can make and everybody can check. `none` and shared secrets (HS…) are not among them. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number];

/** Requirements AMB-148. */
export const defaultAlgorithms: readonly SignatureAlgorithm[] = ['RS256', 'ES256', 'EdDSA'];

/** The names in tokens: RFC 9864 calls EdDSA over Ed25519 by the name of its curve. */
export function acceptedAlgorithms(algorithms: readonly SignatureAlgorithm[]): string[] {
  return algorithms.flatMap((algorithm) => (algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm]));
}

import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

/** One key for each algorithm that tokens are signed with by default. */
export const tokenAlgorithms = ['RS256', 'ES256', 'EdDSA'] as const;
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

/** Private keys with ids of their own. */
export function makeSigningKeys(): Promise<JWK[]> {
  return Promise.all(
    tokenAlgorithms.map(async (alg) => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true });
      return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: `${alg}-${randomUUID()}` };
    }),
  );
}

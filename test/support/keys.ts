import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

/** A key pair of tests. */
export interface TestKey {
  readonly alg: string;
  readonly publicJwk: JWK;
  readonly privateKey: CryptoKey;
  /** Signs claims as they are; `header` adds to or replaces what the key says. */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

export async function makeKey(alg: string, kid?: string): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk: JWK = { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid === undefined ? {} : { kid }) };
  return {
    alg,
    publicJwk,
    privateKey,
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey),
  };
}

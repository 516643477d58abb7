import type { KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { SealKey } from './seal-key.ts';

/** Claims of a SEAL token (spec 3 §2.2). `iss` and `aud` are those of the key. */
export interface SealClaims {
  readonly jti: string;
  /** Name of the SecurityContext. */
  readonly scp: string;
  readonly tenant_id: string;
  /** Seconds since the Unix epoch. */
  readonly iat: number;
  readonly exp: number;
}

/** Checks SEAL tokens; holds no private key. */
export type SealVerifier = Pick<SealKey, 'publicKey' | 'issuer' | 'audience'>;

/**
 * Algorithms that a token may name, pinned by the type of the key (requirements AMB-120); none for a key that is not
 * acceptable. RSA keys have 2048 bits at least.
 */
export function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string[] {
  if (type === 'ed25519') return ['EdDSA', 'Ed25519'];
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= 2_048 ? ['RS256', 'PS256'] : [];
  return type === 'ec' && details?.namedCurve === 'prime256v1' ? ['ES256'] : [];
}

export function issueToken(key: SealKey, claims: SealClaims): Promise<string> {
  const { jti, scp, tenant_id, iat, exp } = claims;
  return new SignJWT({ scp, tenant_id, jti, iat, exp, iss: key.issuer, aud: key.audience })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .sign(key.privateKey);
}

/** The claims of a token that this installation issued and that is still valid; undefined where it is anything else. */
export async function readToken(key: SealVerifier, token: string, now: number): Promise<SealClaims | undefined> {
  const payload = await verified(key, token, now);
  if (payload === undefined) return undefined;
  const { jti, scp, tenant_id, iat, exp } = payload;
  if (typeof jti !== 'string' || typeof scp !== 'string' || typeof tenant_id !== 'string') return undefined;
  if (jti === '' || scp === '' || tenant_id.trim() === '') return undefined;
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined;
  return { jti, scp, tenant_id, iat, exp };
}

/** Tokens that were proved last, and what they may take together, in UTF-16 units. */
const remembered = { max: 1_000, maxSize: 1_048_576 } as const;

interface Proved {
  readonly claims: SealClaims;
  readonly by: KeyObject;
}

export type ReadToken = (token: string, now: number) => Promise<SealClaims | undefined>;

/**
 * As `readToken`, for tokens that come again with each call. The signature of one is checked once for each key; whether it
 * has expired, each time.
 */
export function createTokenReader(key: SealVerifier): ReadToken {
  const proved = new LRUCache<string, Proved>({ ...remembered, sizeCalculation: (_, token) => token.length + 1 });
  return async (token, now) => {
    const held = proved.get(token);
    const { publicKey } = key;
    if (held?.by === publicKey) return Math.floor(now / 1_000) < held.claims.exp ? held.claims : undefined;
    const claims = await readToken(key, token, now);
    if (claims !== undefined) proved.set(token, { claims, by: publicKey });
    return claims;
  };
}

async function verified({ publicKey, issuer, audience }: SealVerifier, token: string, now: number) {
  const options = { issuer, audience, algorithms: algorithmsOf(publicKey), currentDate: new Date(now) };
  try {
    return (await jwtVerify(token, publicKey, options)).payload;
  } catch {
    // Callers learn that it is not valid, and no more (spec 3 §7.1).
    return undefined;
  }
}

import type { KeyObject } from 'node:crypto';
import { decodeJwt, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { envelopeLimits } from './limits.ts';
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
  const claims = payload && claimsOf(payload);
  return claims !== undefined && isCurrent(claims, now) ? claims : undefined;
}

/** The audience, also as a list of one (RFC 7519 §4.1.3); a token for others as well does not equal it (ADR 0116). */
const isForOne = (audience: JWTPayload['aud']): boolean => !Array.isArray(audience) || audience.length === 1;

function claimsOf({ jti, scp, tenant_id, iat, exp, aud }: JWTPayload): SealClaims | undefined {
  if (!isForOne(aud)) return undefined;
  if (typeof jti !== 'string' || typeof scp !== 'string' || typeof tenant_id !== 'string') return undefined;
  if (jti === '' || scp === '' || tenant_id.trim() === '') return undefined;
  return typeof iat === 'number' && typeof exp === 'number' ? { jti, scp, tenant_id, iat, exp } : undefined;
}

/**
 * Whether a token has not expired, and was issued before now. Clocks of issuer and verifier may be as far apart as
 * those of signer and verifier (spec 3 §5.2).
 */
const isCurrent = ({ iat, exp }: Pick<SealClaims, 'iat' | 'exp'>, now: number): boolean =>
  Math.floor(now / 1_000) < exp && iat * 1_000 <= now + envelopeLimits.freshMs;

/** The tenant that a token claims, of which nothing is proved; '' where it claims none. */
export function claimedTenant(token: string): string {
  try {
    const { tenant_id: tenant } = decodeJwt(token);
    return typeof tenant === 'string' && tenant.trim() !== '' ? tenant : '';
  } catch {
    return '';
  }
}

/** Tokens that were proved last, and what they may take together, in UTF-16 units. */
const remembered = { max: 1_000, maxSize: 1_048_576 } as const;

interface Proved {
  readonly claims: SealClaims;
  readonly by: KeyObject;
}

export type ReadToken = (token: string, now: number) => Promise<SealClaims | undefined>;

/**
 * As `readToken`, for tokens that come again with each call. The signature of one is checked once for each key; its times are
 * checked each time.
 */
export function createTokenReader(key: SealVerifier): ReadToken {
  const proved = new LRUCache<string, Proved>({ ...remembered, sizeCalculation: (_, token) => token.length + 1 });
  return async (token, now) => {
    const held = proved.get(token);
    const { publicKey } = key;
    if (held?.by === publicKey) return isCurrent(held.claims, now) ? held.claims : undefined;
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

import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { edgeLimits } from './limits.ts';

/** Issuer of every token of edge mode, unless a part says otherwise. */
export const edgeIssuer = 'windlass';

const signInPool = promisify<null, Uint8Array, KeyObject, Buffer>(sign);
const base64url = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
const header = base64url({ alg: 'EdDSA', typ: 'JWT' });

/** Signs in a thread of the pool. The library would use one as well, by way of WebCrypto, which takes the caller twice as long. */
export async function signEdgeToken(key: KeyObject, claims: JWTPayload): Promise<string> {
  const signed = `${header}.${base64url(claims)}`;
  return `${signed}.${(await signInPool(null, Buffer.from(signed), key)).toString('base64url')}`;
}

/** How a token is checked beside its signature. */
interface TokenCheck {
  readonly audience: string;
  /** Milliseconds since the Unix epoch. `any`: also a token whose time is over. */
  readonly now: number | 'any';
}

/** The claims of a token that the key has signed, for the audience, and whose time it is; else undefined. */
export async function verifiedClaims(
  key: KeyObject,
  token: string,
  { audience, now }: TokenCheck,
): Promise<JWTPayload | undefined> {
  if (token.length > edgeLimits.tokenLength) return undefined;
  const currentDate = now === 'any' ? new Date(issuedOf(token)) : new Date(now);
  try {
    const options = { issuer: edgeIssuer, audience, algorithms: ['EdDSA', 'Ed25519'], currentDate };
    return (await jwtVerify(token, key, { ...options, requiredClaims: ['exp', 'iat'] })).payload;
  } catch {
    return undefined;
  }
}

/** When the token says that it was issued: at that moment it was valid, if it ever was. */
function issuedOf(token: string): number {
  try {
    const { iat = 0 } = decodeJwt(token);
    return Number.isSafeInteger(iat) ? iat * 1_000 : 0;
  } catch {
    return 0;
  }
}

/** Whole seconds since the Unix epoch. */
export const seconds = (ms: number): number => Math.floor(ms / 1_000);

/** The named claims, where every one of them is a text with something in it. */
export function textClaims<Name extends string>(
  claims: JWTPayload,
  names: readonly Name[],
): Readonly<Record<Name, string>> | undefined {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value: unknown = claims[name];
    if (typeof value !== 'string' || value === '') return undefined;
    found[name] = value;
  }
  // Every name was put in.
  return found as Record<Name, string>;
}

/** `verifiedClaims` lets no token through that lacks one of them. */
export const timesOf = ({ iat = 0, exp = 0 }: JWTPayload): { readonly iat: number; readonly exp: number } => ({
  iat,
  exp,
});

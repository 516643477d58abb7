import { decodeJwt } from 'jose/jwt/decode';

/** Claims of a token, for display only: its signature is not verified. Empty for text that is no JWT. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** The subject of a token. */
export function tokenSubject(token: string): string {
  const { sub } = claimsOf(token);
  return typeof sub === 'string' && sub !== '' ? sub : 'unknown';
}

/** The display name of the subject: some providers have ids as subjects. */
export function nameOf(token: string): string {
  const { preferred_username: name } = claimsOf(token);
  return typeof name === 'string' && name !== '' ? name : tokenSubject(token);
}

import { AppError } from '../errors.ts';

/** RFC 9110 §11.4: the scheme in any case, then a token68. */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * The token of a header `Authorization: Bearer …`. That there is only one such header is for the listener to ensure.
 * @throws AppError `unauthenticated`.
 */
export function bearerToken(authorization: string | undefined): string {
  const token = bearer.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new AppError('unauthenticated', 'unauthorized', { reason: 'NoBearerToken' });
  return token;
}

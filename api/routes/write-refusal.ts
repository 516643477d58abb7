import { notYetMessage } from '../../lib/caller-error.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import { isNamespaceGone, isQuotaExceeded, isTooLarge } from '../../lib/kube/index.ts';
import { notFound, unknownTenant } from './not-found.ts';

/**
 * The API server's refusal of an object that a request asked for, as an answer. Undefined for all that is not the
 * caller's: a missing right of our own, a server in trouble, another kind of 404.
 */
export function writeRefusal(cause: unknown, tooLarge: (cause: unknown) => HttpError): HttpError | undefined {
  if (isTooLarge(cause)) return tooLarge(cause);
  if (isNamespaceGone(cause)) return notFound(unknownTenant, { cause });
  const message = notYetMessage(cause);
  if (message !== undefined) return new HttpError({ code: 'unavailable', message, cause });
  if (!isQuotaExceeded(cause)) return undefined;
  const [quota = ''] = /exceeded quota:.*$/.exec(cause.serverMessage) ?? [];
  return new HttpError({ code: 'limit_exceeded', message: `${quota}; delete what is no longer needed`, cause });
}

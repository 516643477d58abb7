import { isForbidden, isQuotaExceeded, isQuotaUncounted } from '../../lib/kube/index.ts';

/** A refusal that may pass without a change of the object: a quota may get room, and a right may be granted. */
interface RefusalWait {
  readonly reason: 'QuotaExceeded' | 'Forbidden';
  /** The words of the API server. */
  readonly message: string;
  /** The owner of the object is in the line of a full quota, which wakes it. A quota that is not counted yet has no line. */
  readonly inLine: boolean;
}

/**
 * Why the object of a create waits that the API server refuses for now; undefined for any other error. A refusal that never
 * passes, such as that of `rejectionOf`, is looked for first.
 */
export function waitOfRefusal(error: unknown): RefusalWait | undefined {
  if (!isForbidden(error)) return undefined;
  const inLine = isQuotaExceeded(error);
  const reason = inLine || isQuotaUncounted(error) ? 'QuotaExceeded' : 'Forbidden';
  return { reason, message: error.serverMessage, inLine };
}

import { limits } from '../../crds/limits.ts';
import { notYetMessage } from '../../lib/caller-error.ts';
import { AppError } from '../../lib/errors.ts';
import {
  isDenied,
  isForbidden,
  isInvalid,
  isNamespaceGone,
  isQuotaExceeded,
  isTooLarge,
  KubeError,
} from '../../lib/kube/index.ts';
import { IngestError } from './ingest-error.ts';

/**
 * Why an execution was not created, for certain; undefined where it may have been, since the answer got lost or the
 * server had trouble of its own. Pure.
 */
export function creationRefusal(error: unknown): AppError | undefined {
  if (isTooLarge(error)) {
    const message = `the execution would be too large to be stored; its input may have ${limits.executionInputBytes} bytes`;
    return new AppError('limit_exceeded', message, { reason: 'ContentTooLarge', cause: error });
  }
  if (!(error instanceof KubeError)) return undefined;
  if (notYetMessage(error) !== undefined) return unavailable(error);
  if (error.status === 401 || error.status === 429) return unavailable(error);
  if (error.status < 400 || error.status >= 500 || error.status === 408) return undefined;
  const tenants = ofTenant.find(([is]) => is(error));
  if (tenants !== undefined) return new IngestError('workflow_error', tenants[1]);
  return new IngestError('workflow_error', sentenceOf(error), { cause: error });
}

type Sentence = readonly [is: (error: unknown) => boolean, sentence: string];

/** Faults that the tenant has to mend; their kind is enough. */
const ofTenant: readonly Sentence[] = [
  [isQuotaExceeded, "the tenant's quota has no room for another run"],
  [isNamespaceGone, 'the tenant has no namespace any more'],
];

/** Faults that operators have to mend: the server's words are for their log, not for senders of webhooks. */
const ofOperators: readonly Sentence[] = [
  [isDenied, 'an admission rule of the cluster denies the execution'],
  [isForbidden, 'the API is not allowed to create executions in the namespace of the tenant'],
];

function sentenceOf(error: KubeError): string {
  const known = ofOperators.find(([is]) => is(error));
  if (known !== undefined) return known[1];
  // The rules of the kind itself are no secret.
  return isInvalid(error)
    ? `the execution was refused: ${error.serverMessage}`
    : 'the API server refused the execution';
}

function unavailable(cause: KubeError): AppError {
  return new AppError('unavailable', 'the API server takes no executions now', { reason: 'Overloaded', cause });
}

import { limits } from '../../crds/limits.ts';
import { AppError } from '../../lib/errors.ts';
import { isForbidden, isNamespaceGone, isQuotaExceeded, isTooLarge, KubeError } from '../../lib/kube/index.ts';
import { IngestError } from './ingest-error.ts';

/**
 * Why an execution was not created, for certain; undefined where it may have been, since the answer got lost or the
 * server had trouble of its own. Pure.
 */
export function refusalOf(error: unknown): AppError | undefined {
  if (isTooLarge(error)) {
    const message = `the execution would be too large to be stored; its input may have ${limits.executionInputBytes} bytes`;
    return new AppError('limit_exceeded', message, { reason: 'ContentTooLarge', cause: error });
  }
  if (!(error instanceof KubeError)) return undefined;
  if (error.status === 401 || error.status === 429) return unavailable(error);
  if (error.status < 400 || error.status >= 500 || error.status === 408) return undefined;
  return new IngestError('workflow_error', sentenceOf(error), { cause: error });
}

const sentences: readonly (readonly [is: (error: unknown) => boolean, sentence: string])[] = [
  [isQuotaExceeded, "the tenant's quota has no room for another run"],
  [isNamespaceGone, 'the tenant has no namespace any more'],
  [isForbidden, 'the API may start nothing in the namespace of the tenant'],
];

function sentenceOf(error: KubeError): string {
  const known = sentences.find(([is]) => is(error));
  return known?.[1] ?? `the execution was refused: ${error.serverMessage}`;
}

function unavailable(cause: KubeError): AppError {
  return new AppError('unavailable', 'the API server takes no executions now', { reason: 'Overloaded', cause });
}

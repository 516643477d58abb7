import { limits } from '../../crds/limits.ts';
import { AppError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { IngestError } from './ingest-error.ts';

/**
 * Why an execution was not created, for certain; undefined where it may have been, since the answer got lost or the
 * server had trouble of its own. Pure.
 */
export function refusalOf(error: unknown): AppError | undefined {
  if (!(error instanceof KubeError)) return undefined;
  if (isTooLarge(error)) {
    const message = `the execution would be too large to be stored; its input may have ${limits.executionInputBytes} bytes`;
    return new AppError('limit_exceeded', message, { reason: 'ContentTooLarge', cause: error });
  }
  if (error.status === 401 || error.status === 429) return unavailable(error);
  if (error.status < 400 || error.status >= 500 || error.status === 408) return undefined;
  return new IngestError('workflow_error', sentenceOf(error), { cause: error });
}

/** The API server bounds a request, etcd an object; the latter's refusal comes as trouble of the server. */
function isTooLarge({ status, serverMessage }: KubeError): boolean {
  return status === 413 || (status === 500 && serverMessage.includes('request is too large'));
}

function sentenceOf({ status, serverMessage }: KubeError): string {
  if (status === 403 && serverMessage.includes('exceeded quota'))
    return "the tenant's quota has no room for another run";
  if (status === 403) return 'the API may start nothing in the namespace of the tenant';
  if (status === 404) return 'the tenant has no namespace any more';
  return `the execution was refused: ${serverMessage}`;
}

function unavailable(cause: KubeError): AppError {
  return new AppError('unavailable', 'the API server takes no executions now', { reason: 'Overloaded', cause });
}

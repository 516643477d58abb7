import { WindlassApiError } from '../../../client/index.ts';
import { CliError, isElsewhere } from '../../exit-codes.ts';

/** An option whose meaning needs Kubernetes. */
export function onlyKubernetes(option: string, hint: string): CliError {
  return new CliError('usage', `${option} is for Kubernetes, not for the HTTP API`, hint);
}

/** The answer; that something is not there is said by `missing`, as both backends do. */
export async function notFoundHere<T>(answer: Promise<T>, missing: CliError): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof WindlassApiError && error.status === 404 && !isOfAnother(error) ? missing : error;
  }
}

/** A tenant or version that is not there has words of its own; so has an address that is not that of the API. */
function isOfAnother(error: WindlassApiError): boolean {
  return error.error === 'Tenant not found' || error.error === 'Version not found' || isElsewhere(error);
}

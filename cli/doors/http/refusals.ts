import { WindlassApiError } from '../../../client/index.ts';
import { CliError, isElsewhere } from '../../exit-codes.ts';

/** An option whose meaning needs Kubernetes. */
export function onlyKubernetes(option: string, hint: string): CliError {
  return new CliError('usage', `${option} is for Kubernetes, not for the HTTP API`, hint);
}

/** The answer; that something is not there becomes the not-found error that both doors give. */
export async function notFoundHere<T>(
  answer: Promise<T>,
  { message, hint }: { readonly message: string; readonly hint: string },
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof WindlassApiError && error.status === 404 && !isOfAnother(error)) {
      throw new CliError('not_found', message, hint);
    }
    throw error;
  }
}

/** A tenant or version that is not there has words of its own; so has an address that is not that of the API. */
function isOfAnother(error: WindlassApiError): boolean {
  return error.error === 'Tenant not found' || error.error === 'Version not found' || isElsewhere(error);
}

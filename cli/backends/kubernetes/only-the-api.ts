import { CliError } from '../../exit-codes.ts';

/** Features that Kubernetes does not have. */
export function onlyTheApi(message: string, otherwise = ''): CliError {
  return new CliError('usage', message, `Go through it with --server URL${otherwise}.`);
}

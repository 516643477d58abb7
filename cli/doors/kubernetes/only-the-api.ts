import { CliError } from '../../exit-codes.ts';

/** What Kubernetes knows nothing of. */
export function onlyTheApi(message: string, otherwise = ''): CliError {
  return new CliError('usage', message, `Go through it with --server URL${otherwise}.`);
}

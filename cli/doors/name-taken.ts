import { CliError } from '../exit-codes.ts';

/** What both doors say of a name that an execution has already. */
export function nameTaken(name: string): CliError {
  return new CliError('conflict', `there is an execution named ${name} already`, 'Choose another name with --name.');
}

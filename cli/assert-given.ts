import type { Command } from 'commander';
import { isLabelName } from '../crds/label-name.ts';
import { CliError } from './exit-codes.ts';

/**
 * Throws a usage error for a name or option that is empty, mostly a variable that a script did not set. Only free text
 * may be empty, and says so as `<text>`.
 */
export function assertGiven(command: Command): void {
  assertArguments(command);
  const values: Readonly<Record<string, unknown>> = command.optsWithGlobals();
  for (const option of withParents(command).flatMap(({ options }) => options)) {
    if (values[option.attributeName()] !== '' || option.flags.endsWith('<text>')) continue;
    throw new CliError('usage', `${option.long} is empty`, 'Give it a value, or leave it out.');
  }
  const { namespace } = values;
  if (typeof namespace === 'string' && !isLabelName(namespace)) {
    throw new CliError(
      'usage',
      `'${namespace}' is not a valid name of a namespace`,
      'List them: kubectl get namespaces',
    );
  }
}

/** Lists, such as of files, are the business of their command. */
function assertArguments({ registeredArguments, args }: Command): void {
  for (const [index, argument] of registeredArguments.entries()) {
    const value = args[index];
    if (argument.variadic) continue;
    if (value === '') throw new CliError('usage', `<${argument.name()}> is empty`, 'Is a variable not set?');
    if (value === '.' || value === '..') {
      throw new CliError('usage', `'${value}' is not a name`, 'Names are letters, digits and dashes.');
    }
  }
}

function withParents(command: Command): Command[] {
  return command.parent ? [command, ...withParents(command.parent)] : [command];
}

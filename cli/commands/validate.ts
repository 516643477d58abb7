import { Command } from 'commander';
import { formNotes } from '../../lib/manifest/form-names.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { problemLine } from '../manifest-files.ts';
import { type FileObject, nameOf, readObjectFiles } from '../object-files.ts';
import { printedValue } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';
import { withChildren } from './workflow-validate.ts';

export function validateCommand(launch: CliLaunch): Command {
  return new Command('validate')
    .summary('check files with objects of any kind')
    .description(
      'Checks objects of every kind of Windlass in files, without a cluster: the schema of the kind, names, labels, ' +
        'templates, JSON Schemas and OpenAPI documents. Workflows and agents may be in either form. Prints every problem as ' +
        'FILE:LINE:COLUMN PATH: MESSAGE. Whether the objects exist that a file names, and the rules between fields that the API ' +
        'server evaluates for the other kinds, are for kubectl apply --dry-run=server.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .option('--strict', 'fail on warnings too')
    .addHelpText(
      'after',
      examples('windlass validate manifests/', 'kubectl kustomize overlays/prod | windlass validate - --strict'),
    )
    .action(launch(validate));
}

interface ValidateOptions {
  readonly strict?: true;
}

const validate: Run<ValidateOptions> = async (context, paths, { strict = false }): Promise<ExitCode> => {
  const found = await withChildren(await readObjectFiles(context, paths));
  const problems = found.flatMap(({ file, problems: own }) => own.map((problem) => ({ file, ...problem })));
  if (!(await printedValue(context, problems))) report(context, found);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  if (errors > 0) context.terminal.note(`error: ${counted(errors, 'problem')} found`);
  if (strict && warnings > 0) context.terminal.note(`error: ${counted(warnings, 'warning')} found`);
  return errors > 0 || (strict && warnings > 0) ? exitCodes.failed : ok;
};

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Valid objects are listed too, so that a mistyped path is noticed. */
function report({ terminal }: Pick<CommandContext, 'terminal'>, found: readonly FileObject[]): void {
  for (const object of found) {
    const { file, form, problems } = object;
    for (const problem of problems) terminal.out(problemLine(file, problem));
    const isValid = problems.every(({ severity }) => severity !== 'error');
    if (isValid) terminal.out(`${file}: ${nameOf(object)} is valid (${formNotes[form]})`);
  }
}

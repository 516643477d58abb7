import { Command } from 'commander';
import type { Problem } from '../../crds/problem.ts';
import { formNames, formNotes } from '../../lib/manifest/form-names.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { type FileWorkflow, isUsable, problemLine, readWorkflowFiles } from '../manifest-files.ts';
import { printedValue } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';

export function workflowValidateCommand(launch: CliLaunch): Command {
  return new Command('validate')
    .summary('check workflow files')
    .description(
      'Checks workflows, in the form of the manifest or of the custom resource, as the API server and the controller ' +
        'will. Prints every problem as FILE:LINE:COLUMN PATH: MESSAGE. Needs no cluster.',
    )
    .argument('<file...>', 'files or directories; - reads standard input')
    .option('--strict', 'fail on warnings too')
    .addHelpText('after', examples('windlass workflow validate review.yaml', 'windlass workflow validate workflows/'))
    .action(launch(validate));
}

interface ValidateOptions {
  readonly strict?: true;
}

const validate: Run<ValidateOptions> = async (context, paths, { strict = false }): Promise<ExitCode> => {
  const found = await withChildren(await readWorkflowFiles(context, paths));
  const doubtful = found.reduce((sum, { problems }) => sum + problems.filter(isWarning).length, 0);
  const valid = found.every(isUsable) && !(strict && doubtful > 0);
  const rows = found.flatMap(({ file, problems }) => problems.map((problem) => ({ file, ...problem })));
  if (!(await printedValue(context, rows))) report(context, found);
  if (strict && doubtful > 0) context.terminal.note(`error: ${doubtful} warning${doubtful === 1 ? '' : 's'} found`);
  return valid ? ok : exitCodes.failed;
};

const isWarning = ({ severity }: Problem): boolean => severity === 'warning';

type Readable = Pick<FileWorkflow, 'workflow' | 'problems'>;

/** The same files may hold the workflow of a Subworkflow. */
export async function withChildren<T extends Readable>(found: readonly T[]): Promise<T[]> {
  const { checkChildren } = await import('../../lib/definition/check-children.ts');
  const known = new Map(found.filter(isUsable).map(({ workflow: { metadata, spec } }) => [metadata.name, spec]));
  const checked = found.map(async (read) => {
    if (!isUsable(read)) return read;
    const problems = await checkChildren(read.workflow.spec, async (name) => known.get(name));
    return {
      ...read,
      problems: [...read.problems, ...problems.map((problem) => ({ ...problem, line: 1, column: 1 }))],
    };
  });
  return Promise.all(checked);
}

/** Valid files are listed too, so that a mistyped path is noticed. */
function report(context: Pick<CommandContext, 'terminal'>, found: readonly FileWorkflow[]): void {
  const { terminal } = context;
  for (const read of found) {
    for (const problem of read.problems) terminal.out(problemLine(read.file, problem));
    if (isUsable(read)) {
      const { metadata, spec } = read.workflow;
      terminal.out(`${read.file}: workflow ${metadata.name} ${spec.version} is valid (${formNotes[read.form]})`);
    }
  }
  count(context, found);
}

/** Why nothing was done, to standard error: standard output is for what a command makes. */
export function noteProblems(context: Pick<CommandContext, 'terminal'>, found: readonly FileWorkflow[]): void {
  for (const { file, problems } of found) {
    for (const problem of problems) context.terminal.note(problemLine(file, problem));
  }
  count(context, found);
}

function count({ terminal }: Pick<CommandContext, 'terminal'>, found: readonly FileWorkflow[]): void {
  const errors = found.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  if (errors.length === 0) return;
  const forms = new Set(found.filter((read) => !isUsable(read)).map(({ form }) => formNames[form]));
  terminal.note(
    `error: ${errors.length} problem${errors.length === 1 ? '' : 's'} found, in the ${[...forms].join(' and the ')}`,
  );
}

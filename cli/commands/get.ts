import { Command } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedObject } from '../print-object.ts';
import { printOutput, watchToEnd } from '../run-to-end.ts';
import { paint } from '../terminal.ts';
import { view } from '../view.ts';

interface GetOptions {
  readonly watch?: boolean;
  readonly full?: boolean;
}

export function getCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one execution')
    .description('Shows the progress of an execution: its states, exit codes, what it waits for, and its output.')
    .argument('<execution>', 'name or uid of the execution')
    .option('-w, --watch', 'keep showing it until it ends; the exit code tells how')
    .option('--full', 'fetch values from the output store as well (with -o json or yaml)')
    .addHelpText(
      'after',
      examples(
        'windlass get review-x7k2p',
        'windlass get review-x7k2p --watch',
        'windlass get review-x7k2p -o json --full | jq .status.final_output',
      ),
    )
    .action(launch(get));
}

const get: Run<GetOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  const { executions, words } = await context.backend();
  const execution = await executions.read(name);
  if (options.watch) return watchToEnd(context, execution);
  const shown = options.full ? await executions.inFull(execution) : execution;
  if (await printedObject(context, shown)) return ok;
  const { terminal, clock } = context;
  // A file or another program takes lines of any length; so does a user who asks for the wide form.
  const isFitted = terminal.live && context.format !== 'wide';
  const size = { columns: isFitted ? terminal.columns() : Number.POSITIVE_INFINITY, flags: words.flags };
  for (const line of view(execution, clock.now(), size)) terminal.out(paint(line, terminal.colour));
  if (execution.status?.phase === 'completed') await printOutput(context, execution);
  return ok;
};

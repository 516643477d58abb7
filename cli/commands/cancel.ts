import { Command } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedObject } from '../print-object.ts';

interface CancelOptions {
  readonly reason?: string;
}

export function cancelCommand(launch: CliLaunch): Command {
  return new Command('cancel')
    .summary('stop an execution')
    .description(
      'Stops an execution, its child executions and their pods. The execution records who did it. Cancelling again ' +
        'changes nothing; an execution that has ended cannot be cancelled.',
    )
    .argument('<execution>', 'name or uid of the execution')
    .option('--reason <text>', 'why')
    .addHelpText('after', examples("windlass cancel review-x7k2p --reason 'wrong branch'"))
    .action(launch(cancel));
}

const cancel: Run<CancelOptions> = async (context, [name = ''], { reason }): Promise<ExitCode> => {
  const { executions } = await context.backend();
  const { execution, earlier } = await executions.cancel(await executions.read(name), reason);
  if (await printedObject(context, execution)) return ok;
  const by = earlier ? ` was already cancelled by ${earlier.by} at ${earlier.at}` : ' cancelled';
  context.terminal.out(`${execution.metadata.name}${by}`);
  return ok;
};

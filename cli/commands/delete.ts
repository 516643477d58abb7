import { Command } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';

export function deleteCommand(launch: CliLaunch): Command {
  return new Command('delete')
    .summary('delete executions')
    .description('Deletes executions with their outputs, children and pods; this stops a running one.')
    .argument('<execution...>', 'names or uids of the executions')
    .addHelpText('after', examples('windlass delete review-x7k2p review-9f3ab'))
    .action(launch(remove));
}

/** Every name is looked up before anything is deleted: a typing error deletes nothing. */
const remove: Run<object> = async (context, names): Promise<ExitCode> => {
  const { executions } = await context.backend();
  const found = await Promise.all(names.map((name = '') => executions.read(name)));
  for (const execution of found) {
    await executions.delete(execution);
    context.terminal.out(`execution ${execution.metadata.name} deleted`);
  }
  return ok;
};

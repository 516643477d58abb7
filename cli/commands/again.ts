import { Command } from 'commander';
import { parseTimeout } from '../duration.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type Launch, type Run } from '../launch.ts';
import { waitToEnd, watchToEnd } from '../run-to-end.ts';
import { started } from './run.ts';

interface AgainOptions {
  readonly from?: string;
  readonly name?: string;
  readonly wait?: boolean;
  readonly watch?: boolean;
  readonly timeout?: string;
}

export function rerunCommand(launch: Launch): Command {
  return againCommand('rerun', 'run an execution again')
    .description('Starts a new execution with the same revision of the workflow and the same input.')
    .addHelpText('after', examples('windlass rerun review-x7k2p --watch'))
    .action(launch(again));
}

export function retryCommand(launch: Launch): Command {
  return againCommand('retry', 'run an execution again from a state')
    .description(
      'Starts a new execution in a state that the old one had entered, with what it had achieved before its last visit ' +
        'there: the Blackboard entries of those visits, and the keys that are no states.',
    )
    .requiredOption('--from <state>', 'the state to begin in')
    .addHelpText('after', examples('windlass retry review-x7k2p --from deploy --wait --timeout 10m'))
    .action(launch(again));
}

function againCommand(name: string, summary: string): Command {
  return new Command(name)
    .summary(summary)
    .argument('<execution>', 'name or uid of the execution')
    .option('--name <name>', 'name of the new execution; by default the name of the workflow and a suffix')
    .option('--wait', 'wait for the end and print the output')
    .option('-w, --watch', 'show the states until the end, then the output')
    .option('--timeout <duration>', 'with --wait: give up waiting after this time');
}

const again: Run<AgainOptions> = async (session, [origin = ''], options): Promise<ExitCode> => {
  const { from, name, wait, watch, timeout } = options;
  if (wait && watch) throw new CliError('usage', '--wait and --watch exclude each other', 'Keep one of them.');
  if (timeout !== undefined && !wait) throw new CliError('usage', '--timeout bounds --wait', 'Add --wait.');
  const timeoutMs = timeout === undefined ? undefined : parseTimeout(timeout);
  const { executions } = await session.door();
  const created = await executions.again(await executions.read(origin), { from, name });
  if (!wait && !watch) return started(session, created);
  session.terminal.note(`execution ${created.metadata.name} started`);
  return watch ? watchToEnd(session, created) : waitToEnd(session, created, timeoutMs);
};

import { Command, Option } from 'commander';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type RetryPoint, retryPoints } from '../../lib/execution/execution-again.ts';
import type { AgainRequest, Backend } from '../backends/backend.ts';
import { parseTimeout } from '../duration.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { assertInput } from '../input-problems.ts';
import { examples, type CliLaunch, type Run, repeatable } from '../launch.ts';
import { type InputOptions, readInput } from '../run-input.ts';
import { waitToEnd, watchToEnd } from '../run-to-end.ts';
import type { CommandContext } from '../command-context.ts';
import { type Column, tableLines } from '../table.ts';
import { started } from './run.ts';

interface AgainOptions extends InputOptions {
  readonly from?: string;
  readonly name?: string;
  readonly wait?: boolean;
  readonly watch?: boolean;
  readonly timeout?: string;
}

export function rerunCommand(launch: CliLaunch): Command {
  return againCommand('rerun', 'run an execution again')
    .description(
      'Starts a new execution with the same revision of the workflow and the same input. With --input or --input-file it ' +
        'starts the same version, intent and Blackboard pairs with that input, which is checked against the ' +
        'input_schema. The new execution then has no spec.origin.',
    )
    .option(
      '-i, --input <key=value>',
      'one key of the input in place of the old value; may be repeated; or once, a whole input as JSON',
      repeatable,
    )
    .option('--input-file <file>', 'another input as JSON or YAML; - reads standard input')
    .addHelpText(
      'after',
      examples('windlass rerun review-x7k2p --watch', 'windlass rerun review-x7k2p --input dry_run=false --wait'),
    )
    .action(launch(rerun));
}

export function retryCommand(launch: CliLaunch): Command {
  return againCommand('retry', 'run an execution again from a state')
    .description(
      'Starts a new execution in a state that the old one had entered, with its results from before its last visit ' +
        'there. These are the Blackboard entries of the earlier visits, and the keys that are no states. Without --from it lists these states.',
    )
    .option('--from <state>', 'the state to begin in')
    .addOption(new Option('-i, --input <key=value>', 'refused: see windlass rerun').argParser(repeatable).hideHelp())
    .addOption(new Option('--input-file <file>', 'refused: see windlass rerun').hideHelp())
    .addHelpText('after', examples('windlass retry review-x7k2p --from deploy --wait --timeout 10m'))
    .action(launch(retry));
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

const rerun: Run<AgainOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  const backend = await context.backend();
  return again(context, options, async () => {
    const origin = await backend.executions.read(name);
    const input = await readInput(context.files, options, origin.spec.input);
    if (input !== undefined) await assertFits(backend, origin, input);
    return { origin, request: { input } };
  });
};

const retry: Run<AgainOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  const { from, input, inputFile } = options;
  if (input !== undefined || inputFile !== undefined) throw inputOfRetry();
  const { executions, words } = await context.backend();
  return again(context, options, async () => {
    const origin = await executions.read(name);
    if (from === undefined) throw stateIsMissing(origin, words.flags);
    return { origin, request: { from } };
  });
};

interface Wish {
  readonly origin: WorkflowExecution;
  readonly request: AgainRequest;
}

async function again(context: CommandContext, options: AgainOptions, wished: () => Promise<Wish>): Promise<ExitCode> {
  const { name, wait, watch, timeout } = options;
  if (wait && watch) throw new CliError('usage', '--wait and --watch exclude each other', 'Keep one of them.');
  if (timeout !== undefined && !wait) throw new CliError('usage', '--timeout bounds --wait', 'Add --wait.');
  const timeoutMs = timeout === undefined ? undefined : parseTimeout(timeout);
  const { executions } = await context.backend();
  const { origin, request } = await wished();
  const created = await executions.again(origin, { ...request, name });
  if (!wait && !watch) return started(context, created);
  context.terminal.note(`execution ${created.metadata.name} started`);
  return watch ? watchToEnd(context, created) : waitToEnd(context, created, timeoutMs);
}

/** One that has not begun is left to the backend, which refuses it. */
async function assertFits({ workflows }: Backend, { status }: WorkflowExecution, input: InputValue): Promise<void> {
  const pin = status?.workflow;
  if (pin === undefined) return;
  const { spec } = await workflows.read(pin.uid, pin.version);
  await assertInput(spec.input_schema, input);
}

type InputValue = Parameters<typeof assertInput>[1];

function inputOfRetry(): CliError {
  return new CliError(
    'usage',
    'a retry has the input of the old execution: the results that it takes over were made from it',
    'Leave out --input, or run the whole workflow with another input: windlass rerun EXECUTION --input KEY=VALUE',
  );
}

/**
 * The usage error of a retry without a state: the states from which it may start, and the command for the one that is
 * meant most often. `flags` lead to the execution.
 * @throws ExecutionError for an execution that no retry may start from.
 */
function stateIsMissing(origin: WorkflowExecution, flags: string): CliError {
  const points = retryPoints(origin);
  const { name } = origin.metadata;
  const meant = lastTrouble(points);
  if (meant === undefined) {
    const message = `--from is missing, and ${name} entered no state`;
    return new CliError('usage', message, `Run it from its beginning: windlass rerun ${name}${flags}`);
  }
  const hint = `Run it from ${meant.state}: windlass retry ${name} --from ${meant.state}${flags}`;
  return new CliError('usage', '--from is missing: the state to begin in', hint, tableLines(columns, points));
}

/** The last visit that did not succeed; without one, the last visit. */
function lastTrouble(points: readonly RetryPoint[]): RetryPoint | undefined {
  const inOrder = points.toSorted((one, other) => Date.parse(one.since) - Date.parse(other.since));
  return inOrder.findLast(({ status }) => status !== 'success') ?? inOrder.at(-1);
}

const columns: readonly Column<RetryPoint>[] = [
  { heading: 'STATE', cell: ({ state }) => state },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'SINCE', cell: ({ since }) => since },
];

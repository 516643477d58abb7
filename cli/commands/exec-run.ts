import { Command } from 'commander';
import { isUid } from '../../crds/uid.ts';
import { type ConversationEnd, type ShownEvent, endOf, progressLine } from '../agent-progress.ts';
import type { AgentRuns, Backend } from '../backends/backend.ts';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';

interface RunOptions {
  readonly input?: string;
  readonly inputFile?: string;
  readonly intent?: string;
  readonly version?: string;
  readonly wait?: boolean;
  readonly watch?: boolean;
}

export function execRunCommand(launch: CliLaunch): Command {
  return new Command('run')
    .summary('start an agent')
    .description('Starts an agent. With --wait or --watch the final text is printed on standard output. HTTP API only.')
    .argument('<agent>', 'name or id of the agent')
    .option('-i, --input <text>', 'the task input')
    .option('--input-file <file>', 'the task input from a file; - reads standard input')
    .option('--intent <text>', 'the purpose in natural language, {{intent}} in the instruction')
    .option('--version <version>', 'a stored version instead of the newest')
    .option('--wait', 'wait for the end and print the final text')
    .option('-w, --watch', 'show iterations and tool calls until the end, then the final text')
    .addHelpText(
      'after',
      examples(
        "windlass exec run reviewer --input 'Review the change.' --watch",
        'windlass exec run reviewer --input-file task.txt --wait',
      ),
    )
    .action(launch(run));
}

export function execWatchCommand(launch: CliLaunch): Command {
  return new Command('watch')
    .summary('follow an execution of an agent')
    .description(
      'Shows iterations and tool calls from the beginning until the end, then the final text. HTTP API only.',
    )
    .argument('<execution>', 'id or name of the execution')
    .addHelpText('after', examples('windlass exec watch reviewer-0b9f2c1e11'))
    .action(launch(watch));
}

export function execLogsCommand(launch: CliLaunch): Command {
  return new Command('logs')
    .summary('show the conversation of an execution')
    .description(
      'Shows what an agent has done so far; with -o json or yaml every record of its conversation. HTTP API only.',
    )
    .argument('<execution>', 'id or name of the execution')
    .addHelpText(
      'after',
      examples('windlass exec logs reviewer-0b9f2c1e11', 'windlass exec logs reviewer-0b9f2c1e11 -o json'),
    )
    .action(launch(logs));
}

const run: Run<RunOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  if (options.wait && options.watch) {
    throw new CliError('usage', '--wait and --watch exclude each other', 'Keep one of them.');
  }
  const input = await inputOf(context, options);
  const backend = await context.backend();
  const runs = backend.agentRuns();
  const { intent, version } = options;
  const body = { agent_id: await idOf(backend, name), input, intent, version };
  const { execution_id: id } = await runs.startAgentExecution({ body });
  if (options.wait || options.watch) {
    context.terminal.note(`execution ${id} started`);
    return toTheEnd(context, runs, id, options.watch === true);
  }
  return begun(context, id, backend.words.flags);
};

async function idOf({ agents }: Backend, name: string): Promise<string> {
  return isUid(name) ? name : ((await agents.read(name)).metadata.uid ?? '');
}

async function begun(context: CommandContext, id: string, flags: string): Promise<ExitCode> {
  if (await printedValue(context, { execution_id: id })) return ok;
  context.terminal.out(context.format === 'name' ? id : `execution ${id} started`);
  if (context.terminal.live) context.terminal.note(`Watch it: windlass exec watch ${id}${flags}`);
  return ok;
}

async function inputOf({ files }: CommandContext, { input, inputFile }: RunOptions): Promise<string> {
  if (input !== undefined && inputFile !== undefined) {
    throw new CliError('usage', '--input and --input-file exclude each other', 'Keep one of them.');
  }
  if (inputFile !== undefined) return files.read(inputFile);
  if (input !== undefined) return input;
  throw new CliError('usage', 'the agent needs an input', 'Give --input TEXT or --input-file FILE.');
}

const watch: Run<object> = async (context, [id = '']): Promise<ExitCode> =>
  toTheEnd(context, (await context.backend()).agentRuns(), id, true);

/** Follows a conversation; the exit code tells how it ended, as that of `windlass run --wait` does. */
async function toTheEnd(context: CommandContext, runs: AgentRuns, id: string, isShown: boolean): Promise<ExitCode> {
  const { terminal, interrupted } = context;
  try {
    for await (const { data } of runs.followAgentConversation({ execution_id: id }, { signal: interrupted })) {
      const end = endOf(data);
      if (end !== undefined) return await printEnd(context, id, end);
      const line = isShown ? progressLine(data) : undefined;
      if (line !== undefined) terminal.note(line);
    }
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
  terminal.note(`execution ${id} continues`);
  return exitCodes.interrupted;
}

const exitOf: Readonly<Record<string, ExitCode>> = {
  completed: exitCodes.ok,
  failed: exitCodes.failed,
  cancelled: exitCodes.cancelled,
  deleted: exitCodes.not_found,
};

async function printEnd(context: CommandContext, id: string, end: ConversationEnd): Promise<ExitCode> {
  const { phase, output, message } = end;
  if (!(await printedValue(context, { execution_id: id, ...end }))) {
    if (output !== undefined) context.terminal.out(output);
    if (phase !== 'completed')
      context.terminal.note(`execution ${id} ${phase}${message === undefined ? '' : `: ${message}`}`);
  }
  return exitOf[phase] ?? exitCodes.failed;
}

const logs: Run<object> = async (context, [id = '']): Promise<ExitCode> => {
  const runs = (await context.backend()).agentRuns();
  const all: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await runs.readAgentTranscript({ execution_id: id, cursor });
    for (const record of page.records) if (!show(context, record)) all.push(record);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  await printedValue(context, all);
  return ok;
};

/** Whether the record was shown as a line, or has none; otherwise all are printed at the end. */
function show({ format, terminal }: CommandContext, record: Readonly<Record<string, unknown>>): boolean {
  if (format === 'json' || format === 'yaml') return false;
  const { kind, ...data } = record;
  const event: ShownEvent = { type: String(kind), data };
  const end = endOf(event);
  const line = end === undefined ? progressLine(event) : `${end.phase}: ${end.output ?? end.message ?? ''}`;
  if (line !== undefined) terminal.out(line);
  return true;
}

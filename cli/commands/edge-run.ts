import { Command } from 'commander';
import type { EdgeBackend } from '../backends/backend.ts';
import { type FleetState, fleetStateOf } from '../edge/fleet-state.ts';
import { countsText } from '../edge/fleet-view.ts';
import { printFleet, watchFleet } from '../edge/follow-fleet.ts';
import { hostNames } from '../edge/names.ts';
import { isRefusedFor } from '../edge/refused-for.ts';
import {
  callOf,
  policyOf,
  type PolicyOptions,
  type RunTarget,
  targetOf,
  type TargetOptions,
} from '../edge/run-request.ts';
import { withSelectorOptions } from '../edge/selector.ts';
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, repeatable, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';
import { tableLines } from '../table.ts';
import { printable } from '../text-width.ts';

interface RunOptions extends TargetOptions, PolicyOptions {
  readonly tool?: string;
  readonly arg?: readonly string[];
  readonly preview?: boolean;
  readonly detach?: boolean;
  readonly lines?: boolean;
}

export function edgeRunCommand(launch: CliLaunch): Command {
  const command = new Command('run')
    .summary('run a tool on hosts')
    .description(
      'Runs a command or another tool on hosts. A terminal shows a table of the hosts during the run. ' +
        'Anything else gets the output, each line with its host. So does a tool other than cmd.run: its answer is shown. ' +
        'The exit code is 0 where each host ended with exit code 0. HTTP API only.',
    )
    .argument('[command...]', 'a command and its arguments, behind --')
    .option('--host <host>', 'the host of this name or id')
    .option('--group <group>', 'the hosts of this group, by name or id')
    .option('--all', 'every host of the tenant');
  return withPolicyOptions(withSelectorOptions(command))
    .option('--tool <tool>', 'another tool than cmd.run')
    .option('--arg <key=value>', 'an argument of the tool; a value that is JSON is taken as JSON', repeatable)
    .option('--lines', 'print output, each line with its host, in a terminal as well')
    .option('--preview', 'show which hosts it would be, and run nothing')
    .option('--detach', 'start the run, print its id and leave')
    .addHelpText(
      'after',
      examples(
        'windlass edge run --group web --batch 2 --stop-after 1 -- systemctl restart nginx',
        'windlass edge run --tag web --lines -- uptime',
        'windlass edge run --host build-7 --tool host.info',
      ),
    )
    .action(launch(run));
}

function withPolicyOptions(command: Command): Command {
  return command
    .option('--sequential', 'one host at a time')
    .option('--batch <count>', 'so many hosts at a time; the next ones begin when these have ended')
    .option('--concurrency <count>', 'most commands in flight; by default 10')
    .option('--fail-fast', 'halt at the first failure, and cancel what is in flight')
    .option('--stop-after <count>', 'halt at this number of failures, and let finish what is in flight')
    .option('--min-hosts <count>', 'refuse the run where fewer hosts are connected')
    .option('--deadline <duration>', 'longest time on one host; by default 60s');
}

const run: Run<RunOptions> = async (context, command, options): Promise<ExitCode> => {
  if (options.preview === true && options.detach === true) {
    throw new CliError('usage', '--preview and --detach exclude each other', 'Keep one of them.');
  }
  const words = command.filter((word) => word !== undefined);
  const policy = policyOf(options);
  const call = options.preview === true ? undefined : callOf(words, options);
  const edge = (await context.backend()).edge();
  const target = await targetOf(edge, options);
  if (call === undefined) return preview(context, edge, target);
  const body = { target, ...call, policy };
  return options.detach === true ? detach(context, edge, body) : follow(context, edge, body, options.lines === true);
};

type Body = Parameters<EdgeBackend['invokeFleet']>[0]['body'];

async function preview(context: CommandContext, edge: EdgeBackend, target: RunTarget): Promise<ExitCode> {
  const found = await edge.previewFleet({ body: { target } });
  if (await printedValue(context, found)) return ok;
  const names = await skippedNames(edge, found.skipped);
  const rows = [
    ...found.resolved.map(({ node_id: id, name }) => ({ id, name, runs: 'yes' })),
    ...found.skipped.map(({ node_id: id, reason }) => ({ id, name: names.get(id), runs: `no: ${reason}` })),
  ];
  const columns = [
    { heading: 'NAME', cell: (row: (typeof rows)[number]) => row.name },
    { heading: 'RUNS', cell: (row: (typeof rows)[number]) => row.runs },
    { heading: 'ID', cell: (row: (typeof rows)[number]) => row.id },
  ];
  if (context.format === 'name') for (const { node_id: id } of found.resolved) context.terminal.out(id);
  else if (rows.length === 0) context.terminal.note('no host fits');
  else for (const line of tableLines(columns, rows)) context.terminal.out(line);
  return ok;
}

const skippedNames = (edge: EdgeBackend, skipped: readonly { readonly node_id: string }[]) =>
  hostNames(
    edge,
    skipped.map(({ node_id: id }) => id),
  );

/** The run is in the history once its stream has begun. */
async function detach(context: CommandContext, edge: EdgeBackend, body: Body): Promise<ExitCode> {
  const left = new AbortController();
  let id = '';
  const onHeaders = (headers: Headers): void => {
    id = headers.get('x-fleet-command-id') ?? '';
    left.abort();
  };
  try {
    const signal = AbortSignal.any([left.signal, context.interrupted]);
    for await (const _ of edge.invokeFleet({ body }, { signal, onHeaders })) break;
  } catch (error) {
    if (!left.signal.aborted) throw error;
  }
  if (await printedValue(context, { fleet_command_id: id })) return ok;
  context.terminal.out(context.format === 'name' ? id : `run ${id} started`);
  return ok;
}

async function follow(context: CommandContext, edge: EdgeBackend, body: Body, lines: boolean): Promise<ExitCode> {
  const { terminal, interrupted, format } = context;
  let id = '';
  const onHeaders = (headers: Headers): void => void (id = headers.get('x-fleet-command-id') ?? id);
  const begin = await beginningOf(edge, body.target);
  const events = edge.invokeFleet({ body }, { signal: interrupted, onHeaders });
  const isLive = terminal.live && !lines && !isPrinted(format) && body.tool === 'cmd.run';
  try {
    const state = isLive
      ? await watchFleet(context, { events, begin, title: titleOf(body) })
      : await printFleet(context, { events, begin }, isPrinted(format));
    return await ended(context, edge, state, isLive);
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
  terminal.note(`run ${id} continues; stop it: windlass edge cancel ${id}`);
  return exitCodes.interrupted;
}

/** Whether the end of the run is printed in this form, and nothing before it. */
const isPrinted = (format: CommandContext['format']): boolean =>
  format === 'json' || format === 'yaml' || format === 'name';

/** The hosts of now, with their names: a courtesy for those who may see them. */
async function beginningOf(edge: EdgeBackend, target: RunTarget): Promise<FleetState> {
  try {
    return fleetStateOf((await edge.previewFleet({ body: { target } })).resolved);
  } catch (error) {
    if (isRefusedFor(error)) return fleetStateOf([]);
    throw error;
  }
}

function titleOf({ tool, args }: Body): string {
  if (tool !== 'cmd.run') return tool;
  const { command, args: words } = args ?? {};
  return [command, ...(Array.isArray(words) ? words : [])].join(' ');
}

async function ended(
  context: CommandContext,
  edge: EdgeBackend,
  state: FleetState,
  isShown: boolean,
): Promise<ExitCode> {
  const { terminal, format } = context;
  const { end, error } = state;
  if (end === undefined) throw new CliError('cluster', 'the stream of the run ended before the run did');
  const hosts = [...state.hosts.values()];
  const code = exitOf(state);
  if (await printedValue(context, { ...end, error, hosts })) return code;
  if (format === 'name') terminal.out(end.fleet_command_id);
  if (!isShown) for (const line of problemLines(state)) terminal.note(line);
  const names = await skippedNames(edge, end.targets_skipped);
  for (const { node_id: id, reason } of end.targets_skipped)
    terminal.note(printable(`${names.get(id) ?? id} skipped: ${reason}`));
  const { length: skipped } = end.targets_skipped;
  const none = skipped === 0 ? 'the target means no host' : `none of ${skipped} hosts of the target can take a command`;
  terminal.note(`run ${end.fleet_command_id}: ${hosts.length === 0 ? none : countsText(hosts)}`);
  return code;
}

/** The errors that the table would have shown in red. */
function problemLines({ hosts, error }: FleetState): string[] {
  const failed = [...hosts.values()].filter(({ phase, exitCode }) => phase !== 'ok' || exitCode !== 0);
  return [...failed.map(failureText), ...(error === undefined ? [] : [`${error.reason}: ${error.message}`])].map(
    printable,
  );
}

type Host = FleetState['hosts'] extends ReadonlyMap<string, infer Value> ? Value : never;

function failureText({ name, phase, exitCode, said }: Host): string {
  if (phase === 'ok') return `${name} ended with exit code ${exitCode}`;
  return `${name} ${phase.replace('_', ' ')}${said === '' ? '' : `: ${said}`}`;
}

function exitOf({ hosts, error }: FleetState): ExitCode {
  const all = [...hosts.values()];
  if (error === undefined && all.some(({ phase }) => phase === 'cancelled')) return exitCodes.cancelled;
  const isGood = error === undefined && all.length > 0;
  return isGood && all.every(({ phase, exitCode }) => phase === 'ok' && exitCode === 0) ? ok : exitCodes.failed;
}

import { Command, Option } from 'commander';
import type { ListFleetRunsReply, ReadFleetRunReply } from '../../client/index.ts';
import { limits } from '../../crds/limits.ts';
import { allPages } from '../backends/http/all-pages.ts';
import type { EdgeBackend } from '../backends/backend.ts';
import { formatAge, formatElapsed } from '../duration.ts';
import { hostsOf } from '../edge/names.ts';
import { isRefusedFor } from '../edge/refused-for.ts';
import { type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedValue } from '../print-object.ts';
import { printable } from '../text-width.ts';
import { type Column, tableLines } from '../table.ts';

type RunRow = ListFleetRunsReply['items'][number];
type HostResult = ReadFleetRunReply['per_node'][number];
type Outcome = NonNullable<RunRow['outcome']>;
const outcomes: readonly Outcome[] = ['complete', 'halted', 'cancelled'];

interface ListOptions {
  readonly tool?: string;
  readonly outcome?: Outcome;
}

export function edgeRunsCommand(launch: CliLaunch): Command {
  return new Command('runs')
    .summary('list and show fleet runs')
    .description('Lists and shows fleet runs. Without a further word it lists them. HTTP API only.')
    .addCommand(listCommand(launch), { isDefault: true })
    .addCommand(getCommand(launch));
}

function listCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list fleet runs')
    .description('Lists the fleet runs of the last week, the newest first. HTTP API only.')
    .option('--tool <tool>', 'only runs of this tool')
    .addOption(new Option('--outcome <outcome>', 'only runs that ended so').choices([...outcomes]))
    .addHelpText('after', examples('windlass edge runs', 'windlass edge runs --tool cmd.run --outcome halted'))
    .action(launch(list));
}

function getCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one fleet run, host by host')
    .description('Shows the outcome of each host and the end of its output. HTTP API only.')
    .argument('<run>', 'id of the run')
    .addHelpText('after', examples('windlass edge runs get 3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10'))
    .action(launch(get));
}

export function edgeCancelCommand(launch: CliLaunch): Command {
  return new Command('cancel')
    .summary('cancel a fleet run')
    .description(
      'Cancels the commands of a run that are in flight. Hosts that have ended keep their outcome. HTTP API only.',
    )
    .argument('<run>', 'id of the run')
    .addHelpText('after', examples('windlass edge cancel 3f0f6c1e-52a8-4c0e-9b53-0c0f5a3a7d10'))
    .action(launch(cancel));
}

const list: Run<ListOptions> = async (context, _, { tool, outcome }): Promise<ExitCode> => {
  const backend = await context.backend();
  const edge = backend.edge();
  const rows = await allPages<RunRow>(async (cursor) => {
    const page = await edge.listFleetRuns({ tool, outcome, cursor, limit: limits.pageSizeMax });
    return { rows: page.items, next: page.next_cursor };
  });
  if (await printedValue(context, rows)) return ok;
  if (context.format === 'name') for (const { fleet_command_id: id } of rows) context.terminal.out(id);
  else if (rows.length === 0) context.terminal.note(`no fleet runs ${backend.words.place}`);
  else
    for (const line of tableLines(columnsAt(context.clock.now()), rows, context.format === 'wide'))
      context.terminal.out(line);
  return ok;
};

const columnsAt = (now: number): Column<RunRow>[] => [
  { heading: 'ID', cell: ({ fleet_command_id: id }) => id },
  { heading: 'TOOL', cell: ({ tool }) => tool },
  { heading: 'OUTCOME', cell: ({ outcome }) => outcome ?? 'running' },
  { heading: 'OK', cell: ({ summary }) => summary.ok },
  { heading: 'FAILED', cell: ({ summary }) => summary.err + summary.timed_out },
  { heading: 'OTHER', cell: ({ summary }) => summary.cancelled + summary.not_started },
  { heading: 'AGE', cell: ({ started_at: at }) => (at === null ? undefined : formatAge(at, now)) },
  { heading: 'BY', cell: ({ requested_by: by }) => by, wide: true },
  { heading: 'TARGET', cell: ({ target }) => JSON.stringify(target), wide: true },
  { heading: 'REASON', cell: ({ reason }) => reason, wide: true },
];

const get: Run<object> = async (context, [id = '']): Promise<ExitCode> => {
  const edge = (await context.backend()).edge();
  const run = await edge.readFleetRun({ fleet_command_id: id });
  const { terminal, format } = context;
  if (format === 'name') terminal.out(run.fleet_command_id);
  if (format === 'name' || (await printedValue(context, run))) return ok;
  const names = await namesOf(edge);
  const columns: Column<HostResult>[] = [
    { heading: 'HOST', cell: ({ node_id: host }) => names.get(host) ?? host },
    { heading: 'OUTCOME', cell: ({ outcome }) => outcome },
    { heading: 'EXIT', cell: ({ exit_code: exit }) => exit ?? undefined },
    { heading: 'TOOK', cell: ({ duration_ms: ms }) => (ms === null ? undefined : formatElapsed(ms)) },
    { heading: 'OUTPUT', cell: ({ stdout_tail: out, stderr_tail: err }) => lastLine(out) ?? lastLine(err) },
    { heading: 'WHY', cell: whyOf },
    { heading: 'ID', cell: ({ node_id: host }) => host, wide: true },
  ];
  terminal.note(
    printable(`${run.tool} ${run.outcome ?? 'running'}${run.message === undefined ? '' : `: ${run.message}`}`),
  );
  if (run.records_lost === true)
    terminal.note('the outcomes of its hosts were deleted; the summary is all that is left');
  for (const line of tableLines(columns, run.per_node, format === 'wide')) terminal.out(line);
  return ok;
};

/** Names are a courtesy: a user who may not list hosts sees their ids. */
async function namesOf(edge: EdgeBackend): Promise<ReadonlyMap<string, string>> {
  try {
    return new Map((await hostsOf(edge)).map(({ node_id: id, name }) => [id, name]));
  } catch (error) {
    if (isRefusedFor(error)) return new Map();
    throw error;
  }
}

const whyOf = ({ code, message }: HostResult): string | undefined =>
  [code, message].filter((text) => text !== undefined && text !== '').join(': ') || undefined;

const lastLine = (text: string): string | undefined => text.trimEnd().split('\n').at(-1) || undefined;

const cancel: Run<object> = async (context, [id = '']): Promise<ExitCode> => {
  const edge = (await context.backend()).edge();
  const answer = await edge.cancelFleet({ fleet_command_id: id });
  if (await printedValue(context, answer)) return ok;
  const { cancelled, already_terminal: ended } = answer;
  context.terminal.out(context.format === 'name' ? id : `run ${id}: ${cancelled} cancelled, ${ended} had ended`);
  return ok;
};

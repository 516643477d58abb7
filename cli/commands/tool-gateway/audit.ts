import { Command } from 'commander';
import { WindlassApiError, WindlassConnectionError } from '../../../client/api-error.ts';
import { messageOf } from '../../../lib/errors.ts';
import { parseTimeout } from '../../duration.ts';
import { CliError, type ExitCode, exitCodes } from '../../exit-codes.ts';
import { ProviderAway } from '../../login/provider-away.ts';
import { type AuditEvent, type AuditFilter, eventsOf } from '../../tool-gateway/audit-record.ts';
import { withGateway } from '../../tool-gateway/gateway-option.ts';
import { examples, type CliLaunch, ok, type Run } from '../../launch.ts';
import { printedValue } from '../../print-object.ts';
import type { CommandContext } from '../../command-context.ts';
import { type Column, tableLines } from '../../table.ts';
import { verifyCommand } from './audit-verify.ts';

interface ListOptions {
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
  readonly since?: string;
  readonly ofTenant?: string;
  readonly cursor?: string;
  readonly limit?: string;
  readonly follow?: boolean;
}

export function auditCommand(launch: CliLaunch): Command {
  return new Command('audit')
    .summary('read and check what was done')
    .description('Reads the audit of the tool gateway, and proves that nothing of it is missing or changed.')
    .addCommand(
      withGateway(new Command('list'))
        .alias('ls')
        .summary('list events; the default')
        .description(
          'Lists events of the tool gateway, the oldest first. With --follow it continues until Ctrl-C, also when the ' +
            'gateway or the identity provider is away for a while; -o json prints one event a line then.',
        )
        .option('--type <type>', 'only events of this type, such as ToolInvocationStarted')
        .option('--from <time>', 'only events of this time (RFC 3339) or later')
        .option('--to <time>', 'only events before this time')
        .option('--since <duration>', 'only events of the last 90s, 5m, 1h30m')
        .option('--cursor <cursor>', 'continue where an earlier read ended')
        .option('--limit <events>', 'at most so many events')
        .option('--of-tenant <slug>', 'events of this tenant, for an svc:admin whose token names none')
        .option('-f, --follow', 'continue with events as they come')
        .addHelpText(
          'after',
          examples('windlass gateway audit list --since 1h', 'windlass gateway audit list --follow -o json'),
        )
        .action(launch(list)),
      { isDefault: true },
    )
    .addCommand(verifyCommand(launch));
}

const columns: readonly Column<AuditEvent>[] = [
  { heading: 'TIME', cell: ({ time }) => time },
  { heading: 'TYPE', cell: ({ type }) => type },
  { heading: 'SUBJECT', cell: ({ subject }) => subject },
  { heading: 'DATA', cell: ({ data }) => summary(data) },
  { heading: 'TENANT', cell: ({ tenant }) => tenant, wide: true },
  { heading: 'INVOCATION', cell: ({ invocationid }) => invocationid, wide: true },
  { heading: 'CHAIN', cell: ({ lane, sequence }) => `${lane}/${sequence}`, wide: true },
];

/** Characters of the data that a table shows. */
const summaryLength = 100;

function summary(data: AuditEvent['data']): string {
  const text = Object.entries(data)
    .flatMap(([name, value]) =>
      value === null || typeof value === 'object' || name.endsWith('_id') ? [] : [`${name}=${JSON.stringify(value)}`],
    )
    .join(' ');
  return text.length > summaryLength ? `${text.slice(0, summaryLength - 1)}…` : text;
}

const list: Run<ListOptions> = async (context, _args, options): Promise<ExitCode> => {
  const filter = filterOf(context, options);
  const { client } = await context.gateway();
  if (options.follow) return follow(context, filter, options.cursor);
  const most = limitOf(options.limit);
  const rows: AuditEvent[] = [];
  for await (const event of eventsOf(client, filter, options.cursor)) {
    if (rows.length >= most) break;
    rows.push(event);
  }
  if (await printedValue(context, rows)) return ok;
  if (rows.length === 0) context.terminal.note('no events');
  else for (const line of tableLines(columns, rows, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

function filterOf({ clock }: CommandContext, { type, from, to, since, ofTenant }: ListOptions): AuditFilter {
  if (from !== undefined && since !== undefined)
    throw new CliError('usage', '--from and --since exclude each other', 'Keep one of them.');
  const begin = since === undefined ? from : new Date(clock.now() - parseTimeout(since)).toISOString();
  // The server knows the types, and refuses another one with the list of them.
  return { type: type as AuditFilter['type'], from: begin, to, tenant: ofTenant };
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CliError('usage', `--limit ${text} is no number of events`, 'Give a whole number above zero.');
}

/** Between two looks for what has come, and the longest time between two while the gateway is away. */
const followMs = 1_000;
const awayMs = 30_000;
/** Statuses that pass. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Whether the gateway, or the provider that renews the login, may answer later; what they refuse, they refuse again. */
const isAway = (error: unknown): boolean =>
  error instanceof WindlassConnectionError ||
  error instanceof ProviderAway ||
  (error instanceof WindlassApiError && passing.has(error.status));

async function follow(context: CommandContext, filter: AuditFilter, begin: string | undefined): Promise<ExitCode> {
  const { clock, interrupted } = context;
  const { client } = await context.gateway();
  let cursor = begin;
  let isFirst = true;
  let hasRead = false;
  let pauseMs = followMs;
  while (!interrupted.aborted) {
    const page = await client.listAuditEvents({ ...filter, cursor }).catch((error: unknown) => {
      if (interrupted.aborted) return undefined;
      // A gateway that has never answered may be another address.
      if (!hasRead || !isAway(error)) throw error;
      context.terminal.note(
        `the audit cannot be read, the next attempt is in ${pauseMs / 1_000} s: ${messageOf(error)}`,
      );
      return undefined;
    });
    if (page === undefined) {
      await clock.sleep(pauseMs, interrupted);
      pauseMs = Math.min(2 * pauseMs, awayMs);
      continue;
    }
    hasRead = true;
    pauseMs = followMs;
    isFirst = show(context, page.items, isFirst);
    cursor = page.end_cursor;
    if (page.next_cursor === null) await clock.sleep(followMs, interrupted);
  }
  return exitCodes.interrupted;
}

/** Whether the heading is still to come. */
function show({ format, terminal }: CommandContext, events: readonly AuditEvent[], isFirst: boolean): boolean {
  if (events.length === 0) return isFirst;
  if (format === 'json' || format === 'yaml') {
    for (const event of events) terminal.out(JSON.stringify(event));
    return isFirst;
  }
  const lines = tableLines(columns, events, format === 'wide');
  for (const line of isFirst ? lines : lines.slice(1)) terminal.out(line);
  return false;
}

import { Command } from 'commander';
import type { ReadEdgeHostReply } from '../../client/index.ts';
import type { EdgeBackend } from '../backends/backend.ts';
import { formatAge } from '../duration.ts';
import { type EdgeHostRow, hostIdOf, hostsOf } from '../edge/names.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, repeatable, type Run } from '../launch.ts';
import { printedValue, serialised } from '../print-object.ts';
import type { CommandContext } from '../command-context.ts';
import { type Column, tableLines } from '../table.ts';
import { drainCommand, pushConfigCommand, shutdownCommand } from './edge-host-orders.ts';

interface ListOptions {
  readonly tag?: readonly string[];
  readonly label?: readonly string[];
  readonly connected?: boolean;
}

interface ChangeOptions {
  readonly rename?: string;
  readonly addTag?: readonly string[];
  readonly removeTag?: readonly string[];
}

export function edgeHostsCommand(launch: CliLaunch): Command {
  return new Command('hosts')
    .summary('list, change, drain, stop and revoke hosts')
    .description('Lists, changes and revokes hosts. Without a further word it lists them. HTTP API only.')
    .addCommand(listCommand(launch), { isDefault: true })
    .addCommand(getCommand(launch))
    .addCommand(setCommand(launch))
    .addCommand(revokeCommand(launch))
    .addCommand(drainCommand(launch))
    .addCommand(pushConfigCommand(launch))
    .addCommand(shutdownCommand(launch));
}

function listCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list hosts')
    .description('Lists the hosts of the tenant, the newest first. HTTP API only.')
    .option('--tag <tag>', 'only hosts with this tag; may be repeated', repeatable)
    .option('-l, --label <key=value>', 'only hosts with this label; may be repeated', repeatable)
    .option('--connected', 'only hosts that are connected')
    .addHelpText('after', examples('windlass edge hosts', 'windlass edge hosts --tag web --connected -o wide'))
    .action(launch(list));
}

function getCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one host')
    .description('Shows a host with its last commands, by default as YAML. HTTP API only.')
    .argument('<host>', 'name or id of the host')
    .addHelpText('after', examples('windlass edge hosts get build-7'))
    .action(launch(get));
}

function setCommand(launch: CliLaunch): Command {
  return new Command('set')
    .summary('rename a host, add and remove tags')
    .description('Renames a host, adds tags and removes others. HTTP API only.')
    .argument('<host>', 'name or id of the host')
    .option('--rename <name>', 'the new display name')
    .option('--add-tag <tag>', 'add this tag; may be repeated', repeatable)
    .option('--remove-tag <tag>', 'remove this tag; may be repeated', repeatable)
    .addHelpText('after', examples('windlass edge hosts set build-7 --add-tag web --remove-tag spare'))
    .action(launch(set));
}

function revokeCommand(launch: CliLaunch): Command {
  return new Command('revoke')
    .summary('revoke a host for good')
    .description('Revokes a host for good: its token counts no more, and its commands end. HTTP API only.')
    .argument('<host>', 'name or id of the host')
    .option('--yes', 'do it')
    .addHelpText('after', examples('windlass edge hosts revoke build-7 --yes'))
    .action(launch(revoke));
}

const list: Run<ListOptions> = async (context, _, { tag, label, connected }): Promise<ExitCode> => {
  const backend = await context.backend();
  const rows = await hostsOf(backend.edge(), { tag, label, connected });
  if (await printedValue(context, rows)) return ok;
  if (context.format === 'name') {
    for (const { node_id: id } of rows) context.terminal.out(id);
    return ok;
  }
  if (rows.length === 0) context.terminal.note(`no hosts ${backend.words.place}; enroll one: windlass edge token`);
  else for (const line of hostLines(context, rows)) context.terminal.out(line);
  return ok;
};

function hostLines({ clock, format }: CommandContext, rows: readonly EdgeHostRow[]): string[] {
  return tableLines(columnsAt(clock.now()), rows, format === 'wide');
}

const columnsAt = (now: number): Column<EdgeHostRow>[] => [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'SINCE', cell: ({ since }) => formatAge(since, now) },
  { heading: 'OS', cell: ({ capabilities }) => capabilities.os },
  { heading: 'TAGS', cell: ({ tags }) => tags.join(',') },
  { heading: 'ID', cell: ({ node_id: id }) => id },
  { heading: 'ARCH', cell: ({ capabilities }) => capabilities.arch, wide: true },
  { heading: 'LABELS', cell: ({ capabilities }) => pairs(capabilities.labels), wide: true },
  { heading: 'TOOLS', cell: ({ capabilities }) => toolsOf(capabilities), wide: true },
];

/** The bound of a host's facts is one for its tools and its labels. */
const toolsOf = ({ local_tools: tools, facts_left_out: leftOut }: EdgeHostRow['capabilities']): string =>
  leftOut === undefined ? tools.join(',') : `${tools.join(',')} (${leftOut} tools and labels left out)`;

const pairs = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const get: Run<object> = async (context, [name = '']): Promise<ExitCode> => {
  const edge = (await context.backend()).edge();
  const host = await edge.readEdgeHost({ id: await hostIdOf(edge, name) });
  if (context.format === 'name') context.terminal.out(host.node_id);
  else if (!(await printedValue(context, host))) context.terminal.out(await serialised(host, 'yaml'));
  return ok;
};

const set: Run<ChangeOptions> = async (context, [host = ''], options): Promise<ExitCode> => {
  const { rename, addTag, removeTag } = options;
  if (rename === undefined && addTag === undefined && removeTag === undefined) {
    throw new CliError('usage', 'nothing is to be changed', 'Give --rename, --add-tag or --remove-tag.');
  }
  const edge = (await context.backend()).edge();
  const changed = await changedHost(edge, await hostIdOf(edge, host), options);
  if (await printedValue(context, changed)) return ok;
  const { node_id: id, name, tags } = changed;
  context.terminal.out(
    context.format === 'name' ? id : `host ${name} has ${tags.length === 0 ? 'no tags' : `tags ${tags.join(',')}`}`,
  );
  return ok;
};

async function changedHost(edge: EdgeBackend, id: string, options: ChangeOptions): Promise<ReadEdgeHostReply> {
  const { rename, addTag: add, removeTag: remove } = options;
  const renamed = rename === undefined ? undefined : await edge.changeEdgeHost({ id, body: { name: rename } });
  if (renamed !== undefined && add === undefined && remove === undefined) return renamed;
  return edge.tagEdgeHost({ id, body: { add, remove } });
}

const revoke: Run<{ readonly yes?: boolean }> = async (context, [name = ''], { yes }): Promise<ExitCode> => {
  if (yes !== true) {
    throw new CliError('usage', `revoking ${name} cannot be undone`, 'Add --yes to do it.');
  }
  const edge = (await context.backend()).edge();
  const id = await hostIdOf(edge, name);
  await edge.revokeEdgeHost({ id });
  if (await printedValue(context, { node_id: id, revoked: true })) return ok;
  context.terminal.out(context.format === 'name' ? id : `host ${name} revoked`);
  return ok;
};

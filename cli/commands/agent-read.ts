import { Command } from 'commander';
import type { AgentRow, VersionRow } from '../backends/backend.ts';
import { formatAge } from '../duration.ts';
import type { ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedList, printedObject, printedValue, serialised } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';

export function agentListCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list agents')
    .description('Lists the agents of the namespace or tenant.')
    .addHelpText('after', examples('windlass agent list', 'windlass agent list -o name'))
    .action(launch(list));
}

export function agentGetCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one agent')
    .description('Shows the manifest of an agent, by default as YAML.')
    .argument('<agent>', 'name or uid of the agent')
    .option('--version <version>', 'a stored version instead of the newest')
    .addHelpText(
      'after',
      examples('windlass agent get reviewer', 'windlass agent get reviewer --version 1.2.0 -o json'),
    )
    .action(launch(get));
}

export function agentVersionsCommand(launch: CliLaunch): Command {
  return new Command('versions')
    .summary('list the stored versions of an agent')
    .description('Lists the stored versions of an agent, the newest first.')
    .argument('<agent>', 'name or uid of the agent')
    .addHelpText('after', examples('windlass agent versions reviewer'))
    .action(launch(versions));
}

export function agentDeleteCommand(launch: CliLaunch): Command {
  return new Command('delete')
    .summary('delete an agent')
    .description('Deletes an agent with all its versions. Executions under way keep the content of their start.')
    .argument('<agent>', 'name or uid of the agent')
    .addHelpText('after', examples('windlass agent delete reviewer'))
    .action(launch(remove));
}

const columns: readonly Column<AgentRow>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'OWNER', cell: ({ owner }) => owner },
  { heading: 'VERSION', cell: ({ version }) => version },
  { heading: 'READY', cell: ({ ready }) => ready },
];

const list: Run<object> = async (context): Promise<ExitCode> => {
  const { agents, words, kind } = await context.backend();
  const rows = await agents.list();
  const objects = rows.map(({ object }) => object);
  if (await printedList(context, objects)) return ok;
  if (rows.length === 0) {
    context.terminal.note(`no agents ${words.place}; register one: windlass agent register FILE`);
    return ok;
  }
  // The list of the API has names and ids alone.
  const shown = kind === 'http' ? columns.slice(0, 3) : columns;
  for (const line of tableLines(shown, rows, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

const get: Run<{ readonly version?: string }> = async (context, [name = ''], { version }): Promise<ExitCode> => {
  const { agents } = await context.backend();
  const agent = await agents.read(name, version);
  if (await printedObject(context, agent)) return ok;
  const { toAgentManifest } = await import('../../lib/manifest/convert-agent.ts');
  context.terminal.out(await serialised(toAgentManifest(agent), 'yaml'));
  return ok;
};

const versions: Run<object> = async (context, [name = '']): Promise<ExitCode> => {
  const { agents } = await context.backend();
  const rows = await agents.versions(name);
  const values = rows.map(({ registeredAt: registered_at, ...row }) => ({ ...row, registered_at }));
  if (await printedValue(context, values)) return ok;
  const now = context.clock.now();
  const shown: Column<VersionRow>[] = [
    { heading: 'VERSION', cell: (row) => row.version },
    { heading: 'CURRENT', cell: (row) => (row.current ? 'yes' : 'no') },
    { heading: 'AGE', cell: (row) => formatAge(row.registeredAt, now) },
  ];
  for (const line of tableLines(shown, rows, context.format === 'wide')) context.terminal.out(line);
  return ok;
};

const remove: Run<object> = async (context, [name = '']): Promise<ExitCode> => {
  const { agents } = await context.backend();
  const deleted = await agents.delete(name);
  if (await printedValue(context, { agent: deleted, deleted: true })) return ok;
  context.terminal.out(context.format === 'name' ? deleted : `agent ${deleted} deleted`);
  return ok;
};

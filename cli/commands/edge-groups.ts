import { Command } from 'commander';
import { formatAge } from '../duration.ts';
import { type EdgeGroupRow, groupIdOf, groupsOf, hostIdOf } from '../edge/names.ts';
import { type Selector, selectorOf, type SelectorOptions, withSelectorOptions } from '../edge/selector.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, repeatable, type Run } from '../launch.ts';
import { printedValue, serialised } from '../print-object.ts';
import { type Column, tableLines } from '../table.ts';

interface CreateOptions extends SelectorOptions {
  readonly pin?: readonly string[];
  readonly all?: boolean;
}

export function edgeGroupsCommand(launch: CliLaunch): Command {
  return new Command('groups')
    .summary('list, make and delete groups of hosts')
    .description('Lists, makes and deletes groups of hosts. Without a further word it lists them. HTTP API only.')
    .addCommand(listCommand(launch), { isDefault: true })
    .addCommand(getCommand(launch))
    .addCommand(createCommand(launch))
    .addCommand(deleteCommand(launch));
}

function listCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list groups of hosts')
    .description('Lists the groups of the tenant, by name. HTTP API only.')
    .addHelpText('after', examples('windlass edge groups'))
    .action(launch(list));
}

function getCommand(launch: CliLaunch): Command {
  return new Command('get')
    .summary('show one group and its hosts')
    .description('Shows a group with the hosts that belong to it now, by default as YAML. HTTP API only.')
    .argument('<group>', 'name or id of the group')
    .addHelpText('after', examples('windlass edge groups get web'))
    .action(launch(get));
}

function createCommand(launch: CliLaunch): Command {
  const command = new Command('create')
    .summary('make a group of hosts')
    .description('Makes a group of hosts that fit all options, and of those that are pinned. HTTP API only.')
    .argument('<name>', 'display name of the group');
  return withSelectorOptions(command)
    .option('--all', 'every host of the tenant')
    .option('--pin <host>', 'this host, by name or id, whatever it is; may be repeated', repeatable)
    .addHelpText(
      'after',
      examples(
        'windlass edge groups create web --os linux --tag web',
        'windlass edge groups create pair --pin a --pin b',
      ),
    )
    .action(launch(create));
}

function deleteCommand(launch: CliLaunch): Command {
  return new Command('delete')
    .summary('delete a group of hosts')
    .description('Deletes a group. Its hosts stay, and runs that began keep their hosts. HTTP API only.')
    .argument('<group>', 'name or id of the group')
    .addHelpText('after', examples('windlass edge groups delete web'))
    .action(launch(remove));
}

const list: Run<object> = async (context): Promise<ExitCode> => {
  const backend = await context.backend();
  const items = await groupsOf(backend.edge());
  if (await printedValue(context, items)) return ok;
  if (context.format === 'name') for (const { id } of items) context.terminal.out(id);
  else if (items.length === 0) context.terminal.note(`no groups ${backend.words.place}`);
  else for (const line of tableLines(columnsAt(context.clock.now()), items)) context.terminal.out(line);
  return ok;
};

const columnsAt = (now: number): Column<EdgeGroupRow>[] => [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'HOSTS', cell: ({ resolved_member_count: count }) => count },
  { heading: 'PINNED', cell: ({ pinned_members: pinned }) => pinned.length },
  { heading: 'SELECTOR', cell: ({ selector }) => (selector === null ? undefined : JSON.stringify(selector)) },
  { heading: 'AGE', cell: ({ created_at: at }) => formatAge(at, now) },
  { heading: 'ID', cell: ({ id }) => id },
];

const get: Run<object> = async (context, [name = '']): Promise<ExitCode> => {
  const edge = (await context.backend()).edge();
  const group = await edge.readEdgeGroup({ id: await groupIdOf(edge, name) });
  if (context.format === 'name') context.terminal.out(group.id);
  else if (!(await printedValue(context, group))) context.terminal.out(await serialised(group, 'yaml'));
  return ok;
};

const create: Run<CreateOptions> = async (context, [name = ''], options): Promise<ExitCode> => {
  const { pin = [] } = options;
  const selector = chosenSelector(options);
  if (selector === null && pin.length === 0) {
    const hint = 'Give --all, --os, --tag, --label, --has-tool or --pin.';
    throw new CliError('usage', 'nothing says which hosts belong to the group', hint);
  }
  const edge = (await context.backend()).edge();
  const pinned: string[] = [];
  for (const host of pin) pinned.push(await hostIdOf(edge, host));
  const group = await edge.createEdgeGroup({ body: { name, selector, pinned_members: pinned } });
  if (await printedValue(context, group)) return ok;
  const count = group.resolved_members.length;
  context.terminal.out(context.format === 'name' ? group.id : `group ${name} (${group.id}) has ${hosts(count)}`);
  return ok;
};

/** `{}` is every host, null none. */
function chosenSelector({ all, ...options }: CreateOptions): Selector | null {
  const chosen = selectorOf(options);
  if (all === true && chosen !== undefined) {
    throw new CliError('usage', '--all takes every host, and other options choose some', 'Leave out --all.');
  }
  return all === true ? {} : (chosen ?? null);
}

const hosts = (count: number): string => `${count} host${count === 1 ? '' : 's'}`;

const remove: Run<object> = async (context, [name = '']): Promise<ExitCode> => {
  const edge = (await context.backend()).edge();
  const id = await groupIdOf(edge, name);
  await edge.deleteEdgeGroup({ id });
  if (await printedValue(context, { id, deleted: true })) return ok;
  context.terminal.out(context.format === 'name' ? id : `group ${name} deleted`);
  return ok;
};

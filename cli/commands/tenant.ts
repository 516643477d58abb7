import { Command } from 'commander';
import { labels } from '../../crds/labels.ts';
import type { KubeClient, Namespace } from '../../lib/kube/index.ts';
import { namespaces } from '../../lib/kube/resource.ts';
import { formatAge } from '../duration.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run } from '../launch.ts';
import { printedList } from '../print-object.ts';
import { tableLines } from '../table.ts';
import { tenantCreateCommand } from './tenant-create.ts';
import { administrating, ownNamespace } from './tenant-namespace.ts';

export function tenantCommand(launch: CliLaunch): Command {
  const command = new Command('tenant')
    .summary('make, list and delete tenants')
    .description(
      'A tenant is a namespace with the quota, network policies and role bindings that Windlass needs there.',
    );
  return command
    .addCommand(tenantCreateCommand(launch))
    .addCommand(listCommand(launch))
    .addCommand(deleteCommand(launch));
}

function listCommand(launch: CliLaunch): Command {
  return new Command('list')
    .alias('ls')
    .summary('list tenants')
    .description('Lists the tenants.')
    .action(launch(administrating(list)));
}

function deleteCommand(launch: CliLaunch): Command {
  return new Command('delete')
    .summary('delete a tenant with everything in it')
    .description('Deletes the namespace of a tenant: its workflows, executions, outputs and volumes. There is no undo.')
    .argument('<slug>', 'the tenant')
    .option('--yes', 'do it')
    .addHelpText('after', examples('windlass tenant delete acme --yes'))
    .action(launch(administrating(remove)));
}

const list: Run<object> = async (context): Promise<ExitCode> => {
  const { kube } = await context.cluster();
  const { items } = await kube.listAll(namespaces, { labelSelector: labels.tenant });
  // Lists of Kubernetes leave out what their items are.
  const objects = items.map((item) => ({ apiVersion: 'v1', kind: 'Namespace', ...item }));
  if (await printedList(context, objects)) return ok;
  if (items.length === 0) context.terminal.note('no tenants; make one: windlass tenant create SLUG');
  const now = context.clock.now();
  const columns = [
    { heading: 'TENANT', cell: ({ metadata }: Namespace) => metadata.labels?.[labels.tenant] },
    { heading: 'NAMESPACE', cell: ({ metadata }: Namespace) => metadata.name },
    { heading: 'STATUS', cell: ({ status }: Namespace) => status?.phase },
    { heading: 'AGE', cell: ({ metadata }: Namespace) => formatAge(metadata.creationTimestamp, now) },
  ];
  if (items.length > 0) for (const line of tableLines(columns, items)) context.terminal.out(line);
  return ok;
};

const remove: Run<{ readonly yes?: boolean }> = async (context, [slug = ''], { yes }): Promise<ExitCode> => {
  const { kube } = await context.cluster();
  const { name = '', uid } = (await onlyNamespace(kube, slug)).metadata;
  if (!yes) {
    throw new CliError(
      'usage',
      `this deletes namespace ${name} with everything in it, and cannot be undone`,
      `If that is meant: windlass tenant delete ${slug} --yes`,
    );
  }
  await kube.delete(namespaces, { name }, { uid });
  context.terminal.out(`tenant ${slug} is being deleted with namespace ${name}`);
  return ok;
};

async function onlyNamespace(kube: Pick<KubeClient, 'listAll'>, slug: string): Promise<Namespace> {
  const namespace = await ownNamespace(kube, slug);
  if (namespace !== undefined) return namespace;
  throw new CliError('not_found', `there is no tenant '${slug}'`, 'List what there is: windlass tenant list');
}

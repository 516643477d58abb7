import { Command, Option } from 'commander';
import { labels } from '../../crds/labels.ts';
import { findObject } from '../../lib/kube/find-object.ts';
import type { KubeClient, KubeObject, Namespace, Resource } from '../../lib/kube/index.ts';
import { namespaces, networkPolicies, resourceQuotas, roleBindings } from '../../lib/kube/resource.ts';
import { parseTenantSlug } from '../../lib/tenant/names.ts';
import { type Subject, tenantObjects } from '../../lib/tenant/tenant-objects.ts';
import { formatAge } from '../duration.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type Launch, ok, type Run, repeatable } from '../launch.ts';
import { printedList } from '../print-object.ts';
import { tableLines } from '../table.ts';

interface CreateOptions {
  readonly quota?: readonly string[];
  readonly egress?: 'dns' | 'internet' | 'open';
  readonly viewer?: readonly string[];
  readonly operator?: readonly string[];
  readonly releaseNamespace?: string;
}

export function tenantCommand(launch: Launch): Command {
  const command = new Command('tenant')
    .summary('make, list and delete tenants')
    .description(
      'A tenant is a namespace with the quota, network policies and role bindings that Windlass needs there.',
    );
  return command.addCommand(createCommand(launch)).addCommand(listCommand(launch)).addCommand(deleteCommand(launch));
}

function createCommand(launch: Launch): Command {
  return new Command('create')
    .summary('make a tenant, or bring one up to date')
    .description(
      'Makes the namespace of a tenant: labels with Pod Security restricted, a quota, network policies, and the role ' +
        'bindings of the controllers and of people. Doing it again brings the tenant up to date. With -n the tenant ' +
        'takes that namespace instead of tenant-SLUG.',
    )
    .argument('<slug>', 'short name: a-z, 0-9 and -')
    .option('--quota <resource=amount>', 'hard limit of the quota, such as pods=50; may be repeated', repeatable)
    .addOption(new Option('--egress <what>', 'what steps may reach').choices(['dns', 'internet', 'open']))
    .option('--viewer <subject>', 'who may read: User:NAME, Group:NAME, ServiceAccount:NAMESPACE/NAME', repeatable)
    .option('--operator <subject>', 'who may also run and decide; the same forms', repeatable)
    .option('--release-namespace <namespace>', 'where the controllers run', 'windlass-system')
    .addHelpText(
      'after',
      examples('windlass tenant create acme', 'windlass tenant create acme --operator Group:acme-dev --quota pods=50'),
    )
    .action(launch(create));
}

function listCommand(launch: Launch): Command {
  return new Command('list').alias('ls').summary('list tenants').description('Lists the tenants.').action(launch(list));
}

function deleteCommand(launch: Launch): Command {
  return new Command('delete')
    .summary('delete a tenant with everything in it')
    .description('Deletes the namespace of a tenant: its workflows, executions, outputs and volumes. There is no undo.')
    .argument('<slug>', 'the tenant')
    .option('--yes', 'do it')
    .addHelpText('after', examples('windlass tenant delete acme --yes'))
    .action(launch(remove));
}

const fieldManager = 'windlass-cli';

const create: Run<CreateOptions> = async (session, [slug = ''], options): Promise<ExitCode> => {
  const objects = tenantObjects({
    slug,
    namespace: session.options.namespace,
    quota: options.quota && quotaOf(options.quota),
    egress: options.egress,
    viewers: options.viewer?.map(parseSubject),
    operators: options.operator?.map(parseSubject),
    releaseNamespace: options.releaseNamespace,
  });
  const { kube } = await session.cluster();
  const namespace = objects[0]?.metadata.name ?? '';
  await assertFree(kube, namespace, slug);
  const applied: KubeObject[] = [];
  for (const object of objects) {
    applied.push(await kube.apply(resourceOf(object), object, { fieldManager, force: true }));
  }
  if (await printedList(session, applied)) return ok;
  session.terminal.out(`tenant ${slug} is ready in namespace ${namespace}`);
  return ok;
};

const list: Run<object> = async (session): Promise<ExitCode> => {
  const { kube } = await session.cluster();
  const { items } = await kube.listAll(namespaces, { labelSelector: labels.tenant });
  // Lists of Kubernetes leave out what their items are.
  const objects = items.map((item) => ({ apiVersion: 'v1', kind: 'Namespace', ...item }));
  if (await printedList(session, objects)) return ok;
  if (items.length === 0) session.terminal.note('no tenants; make one: windlass tenant create SLUG');
  const now = session.clock.now();
  const columns = [
    { heading: 'TENANT', cell: ({ metadata }: Namespace) => metadata.labels?.[labels.tenant] },
    { heading: 'NAMESPACE', cell: ({ metadata }: Namespace) => metadata.name },
    { heading: 'STATUS', cell: ({ status }: Namespace) => status?.phase },
    { heading: 'AGE', cell: ({ metadata }: Namespace) => formatAge(metadata.creationTimestamp, now) },
  ];
  if (items.length > 0) for (const line of tableLines(columns, items)) session.terminal.out(line);
  return ok;
};

const remove: Run<{ readonly yes?: boolean }> = async (session, [slug = ''], { yes }): Promise<ExitCode> => {
  const { kube } = await session.cluster();
  const { name = '', uid } = (await onlyNamespace(kube, slug)).metadata;
  if (!yes) {
    throw new CliError(
      'usage',
      `this deletes namespace ${name} with everything in it, and cannot be undone`,
      `If that is meant: windlass tenant delete ${slug} --yes`,
    );
  }
  await kube.delete(namespaces, { name }, { uid });
  session.terminal.out(`tenant ${slug} is being deleted with namespace ${name}`);
  return ok;
};

/** Where several carry the label of one tenant, this is not the place to guess whose data are to go. */
async function onlyNamespace(kube: Pick<KubeClient, 'listAll'>, slug: string): Promise<Namespace> {
  const labelSelector = `${labels.tenant}=${parseTenantSlug(slug)}`;
  const [namespace, ...more] = (await kube.listAll(namespaces, { labelSelector })).items;
  if (namespace === undefined) {
    throw new CliError('not_found', `there is no tenant '${slug}'`, 'List what there is: windlass tenant list');
  }
  if (more.length === 0) return namespace;
  const names = [namespace, ...more].map(({ metadata }) => metadata.name ?? '').toSorted();
  throw new CliError(
    'conflict',
    `several namespaces carry the label of tenant '${slug}': ${names.join(', ')}`,
    `Take the label off those that are not meant: kubectl label namespace NAME ${labels.tenant}-`,
  );
}

/** A namespace that is somebody else's is never taken over; one that is no tenant yet may become one. */
async function assertFree(kube: Pick<KubeClient, 'get'>, name: string, slug: string): Promise<void> {
  const existing = await findObject(kube, namespaces, { name });
  const owner = existing?.metadata.labels?.[labels.tenant];
  if (owner !== undefined && owner !== slug) {
    throw new CliError('conflict', `namespace ${name} belongs to tenant '${owner}'`, 'Choose another with -n.');
  }
}

const resources: Readonly<Record<string, Resource>> = {
  Namespace: namespaces,
  ResourceQuota: resourceQuotas,
  NetworkPolicy: networkPolicies,
  RoleBinding: roleBindings as Resource,
};

function resourceOf({ kind = '' }: KubeObject): Resource {
  const resource = resources[kind];
  if (resource === undefined) throw new TypeError(`a tenant has no objects of kind ${kind}`);
  return resource;
}

/** `User:kim`, `Group:dev`, `ServiceAccount:ci/bot`. */
function parseSubject(text: string): Subject {
  const [, kind, name] = /^(User|Group|ServiceAccount):(.+)$/s.exec(text) ?? [];
  if ((kind === 'User' || kind === 'Group') && name !== undefined) return { kind, name };
  const [, namespace, account] = /^([^/]+)\/([^/]+)$/.exec(name ?? '') ?? [];
  if (kind === 'ServiceAccount' && namespace && account) return { kind, namespace, name: account };
  const forms = 'User:NAME, Group:NAME or ServiceAccount:NAMESPACE/NAME';
  throw new CliError('usage', `'${text}' names no user, group or service account`, `Write it as ${forms}.`);
}

function quotaOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, resource, amount] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
      if (!resource || !amount)
        throw new CliError('usage', `--quota '${pair}' is not RESOURCE=AMOUNT`, 'Write it as pods=50.');
      return [resource, amount];
    }),
  );
}

import { Command, Option } from 'commander';
import { labels, systemNamespace } from '../../crds/labels.ts';
import { findObject } from '../../lib/kube/find-object.ts';
import type { KubeClient, KubeObject, Namespace, Resource } from '../../lib/kube/index.ts';
import { namespaces, networkPolicies, resourceQuotas, roleBindings, serviceAccounts } from '../../lib/kube/resource.ts';
import { isQuantity } from '../../lib/quantity.ts';
import { keptOptions, type TenantFacts } from '../../lib/tenant/kept-options.ts';
import { clusterNames, parseTenantSlug, tenantNamespace } from '../../lib/tenant/names.ts';
import { type Subject, type TenantOptions, tenantManifests } from '../../lib/tenant/tenant-manifests.ts';
import { CliError, type ExitCode } from '../exit-codes.ts';
import { examples, type CliLaunch, ok, type Run, repeatable } from '../launch.ts';
import { printedList } from '../print-object.ts';
import { quotaCounted } from '../quota/quota-counted.ts';
import { administrating, ownNamespace } from './tenant-namespace.ts';

interface CreateOptions {
  readonly quota?: readonly string[];
  readonly egress?: 'dns' | 'internet' | 'open';
  readonly viewer?: readonly string[];
  readonly operator?: readonly string[];
  readonly releaseNamespace?: string;
}

export function tenantCreateCommand(launch: CliLaunch): Command {
  return new Command('create')
    .summary('make a tenant, or bring one up to date')
    .description(
      'Makes the namespace of a tenant: labels with Pod Security restricted, a quota, network policies, and the role ' +
        'bindings of the controllers and of people. With -n the tenant takes that namespace instead of tenant-SLUG. ' +
        'Doing it again brings the tenant up to date and keeps what the options do not name: limits, egress, people. ' +
        'When the cluster refuses a part, a new tenant is not made at all and an old one stays as it was.',
    )
    .argument('<slug>', 'short name: a-z, 0-9 and -')
    .option('--quota <resource=amount>', 'hard limit of the quota, such as pods=50; may be repeated', repeatable)
    .addOption(
      new Option('--egress <what>', 'what steps may reach; at first internet').choices(['dns', 'internet', 'open']),
    )
    .option('--viewer <subject>', 'who may read: User:NAME, Group:NAME, ServiceAccount:NAMESPACE/NAME', repeatable)
    .option('--operator <subject>', 'who may also run and decide; the same forms', repeatable)
    .option('--release-namespace <namespace>', `where the controllers run; at first ${systemNamespace}`)
    .addHelpText(
      'after',
      examples('windlass tenant create acme', 'windlass tenant create acme --operator Group:acme-dev --quota pods=50'),
    )
    .action(launch(administrating(create)));
}

const fieldManager = 'windlass-cli';

const create: Run<CreateOptions> = async (context, [slug = ''], options): Promise<ExitCode> => {
  const given: TenantOptions = {
    slug: parseTenantSlug(slug),
    quota: options.quota && quotaOf(options.quota),
    egress: options.egress,
    viewers: options.viewer?.map(parseSubject),
    operators: options.operator?.map(parseSubject),
    releaseNamespace: options.releaseNamespace,
  };
  const { kube } = await context.cluster();
  const { namespace, existing } = await placeOf(kube, slug, context.options.namespace);
  const facts = existing === undefined ? {} : await factsOf(kube, namespace);
  const objects = tenantManifests({ ...keptOptions(given, facts), namespace });
  const applied = await (existing === undefined ? applyOrUndo(kube, objects) : applyOver(kube, objects));
  if (!(await quotaCounted({ kube, clock: context.clock, interrupted: context.interrupted }, namespace)))
    context.terminal.note(uncounted);
  if (await printedList(context, applied)) return ok;
  context.terminal.out(`tenant ${slug} is ready in namespace ${namespace}`);
  return ok;
};

const uncounted =
  'warning: Kubernetes has not counted all that the quota covers, and refuses that until it has; is the chart installed?';

interface TenantPlace {
  readonly namespace: string;
  /** The namespace where it is there already. */
  readonly existing: Namespace | undefined;
}

/**
 * The namespace that the tenant has, or is to have. One with another owner is never taken over, one that is no
 * tenant yet may become one, and a tenant never gets a second one.
 */
async function placeOf(kube: KubeClient, slug: string, asked: string | undefined): Promise<TenantPlace> {
  const own = await ownNamespace(kube, slug);
  const owned = own?.metadata.name;
  if (owned !== undefined && asked !== undefined && owned !== asked) {
    throw new CliError(
      'conflict',
      `tenant '${slug}' has namespace ${owned}`,
      'Leave out -n, or choose another tenant.',
    );
  }
  const namespace = owned ?? asked ?? tenantNamespace(slug);
  const existing = own ?? (await findObject(kube, namespaces, { name: namespace }));
  if (existing !== undefined) assertFree(namespace, existing, slug);
  return { namespace, existing };
}

function assertFree(name: string, { metadata }: Namespace, slug: string): void {
  const owner = metadata.labels?.[labels.tenant];
  if (owner !== undefined && owner !== slug) {
    throw new CliError('conflict', `namespace ${name} belongs to tenant '${owner}'`, 'Choose another with -n.');
  }
  if (metadata.deletionTimestamp === undefined) return;
  const hint = `Wait for it: kubectl wait --for=delete namespace/${name}`;
  throw new CliError('conflict', `namespace ${name} is being deleted`, hint);
}

async function factsOf(kube: Pick<KubeClient, 'get'>, namespace: string): Promise<TenantFacts> {
  const [quota, steps, controllers, viewer, operator] = await Promise.all([
    findObject(kube, resourceQuotas, { namespace, name: 'windlass' }),
    findObject(kube, networkPolicies, { namespace, name: 'windlass-steps' }),
    findObject(kube, roleBindings, { namespace, name: clusterNames.controllers }),
    findObject(kube, roleBindings, { namespace, name: clusterNames.viewer }),
    findObject(kube, roleBindings, { namespace, name: clusterNames.operator }),
  ]);
  return { quota, steps, controllers, viewer, operator };
}

async function applyAll(kube: Pick<KubeClient, 'apply'>, objects: readonly KubeObject[], dryRun = false) {
  const applied: KubeObject[] = [];
  for (const object of objects) {
    applied.push(await kube.apply(resourceOf(object), object, { fieldManager, force: true, dryRun }));
  }
  return applied;
}

/** Asks for everything first, so that a tenant in use is changed as a whole or not at all. */
async function applyOver(kube: Pick<KubeClient, 'apply'>, objects: readonly KubeObject[]): Promise<KubeObject[]> {
  await applyAll(kube, objects, true);
  return applyAll(kube, objects);
}

/**
 * Nothing can be asked for in a namespace that is not there, so a new namespace is deleted again when the rest is
 * refused.
 */
async function applyOrUndo(kube: Pick<KubeClient, 'apply' | 'delete'>, objects: readonly KubeObject[]) {
  const [first, ...rest] = objects;
  if (first === undefined) return [];
  const [made, ...none] = await applyAll(kube, [first]);
  try {
    return [...(made === undefined ? none : [made]), ...(await applyAll(kube, rest))];
  } catch (error) {
    const { name = '', uid } = made?.metadata ?? {};
    await kube.delete(namespaces, { name }, { uid });
    throw error;
  }
}

const resources: Readonly<Record<string, Resource>> = {
  Namespace: namespaces,
  ResourceQuota: resourceQuotas,
  NetworkPolicy: networkPolicies,
  RoleBinding: roleBindings as Resource,
  ServiceAccount: serviceAccounts as Resource,
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
  const limits = new Map<string, string>();
  for (const pair of pairs) {
    const [, resource = '', amount = ''] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
    if (!resource) throw new CliError('usage', `--quota '${pair}' is not RESOURCE=AMOUNT`, 'Write it as pods=50.');
    if (!isQuantity(amount) || amount.startsWith('-')) {
      const hint = `Write it as ${resource}=50, ${resource}=1.5Gi or ${resource}=500m.`;
      throw new CliError('usage', `--quota '${pair}': '${amount}' is no amount that Kubernetes takes`, hint);
    }
    if (limits.has(resource)) throw new CliError('usage', `--quota names ${resource} twice`, 'Keep one of them.');
    limits.set(resource, amount);
  }
  return Object.fromEntries(limits);
}

import { annotations, globalNamespace, labels } from '../../crds/labels.ts';
import { createInformer, type IndexFunction, type Informer, type ReflectorDeps } from '../informer/index.ts';
import { type Namespace, namespaces } from '../kube/index.ts';
import { sourceKey, isWebhookSource } from '../stimulus/source-claims.ts';

/** Finds the namespace of a tenant's objects. */
export interface TenantDirectory {
  /** Undefined for a tenant that is not set up; a read then finds nothing, a write answers 404. */
  namespaceOf(slug: string): string | undefined;
  /** Uid of that namespace; undefined where there is none, or where it has no label and is that of the release. */
  uidOf(slug: string): string | undefined;
  /** The slug of the tenant that owns a namespace. */
  tenantOf(namespace: string): string | undefined;
  /** The namespace that an administrator assigned the webhooks of a source to. */
  assigneeOf(source: string): string | undefined;
}

/** Namespaces by the slug of their tenant, and by the claims of the sources that are assigned to them. */
export type TenantIndex = 'tenant' | 'assigned';

interface TenantDirectoryDeps {
  /** Namespaces with a tenant's label, by its slug. */
  readonly namespaces: {
    get(key: string): Namespace | undefined;
    byIndex(index: TenantIndex, key: string): readonly Namespace[];
  };
  /** Slug of the tenant whose namespace is that of the release (spec 1 §5.2, requirements AMB-025). */
  readonly systemTenant: string;
  readonly systemNamespace: string;
}

/** The namespaces of all tenants, with what a directory needs of them. */
export function createTenantInformer(deps: ReflectorDeps): Informer<Namespace, TenantIndex> {
  return createInformer(deps, {
    resource: namespaces,
    labelSelector: labels.tenant,
    strip: stripNamespace,
    indexes: { tenant: tenantIndex, assigned: assignedClaims },
  });
}

/** Name, age, label and sources of a namespace, and whether it is being deleted. */
function stripNamespace({ metadata }: Namespace): Namespace {
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels: given } = metadata;
  const sources = metadata.annotations?.[annotations.webhookSources];
  const notes = sources === undefined ? {} : { annotations: { [annotations.webhookSources]: sources } };
  return { metadata: { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels: given, ...notes } };
}

/** The claims that an administrator assigned to a namespace, for the cache's index `assigned`. */
export function assignedClaims({ metadata }: Namespace): string[] {
  const sources = metadata.annotations?.[annotations.webhookSources]?.split(',').map((source) => source.trim()) ?? [];
  return [...new Set(sources.filter(isWebhookSource).map(sourceKey))];
}

/** The namespace that has a source by assignment; where several do, the oldest. */
export function assigneeIn(namespaces: TenantDirectoryDeps['namespaces'], source: string): string | undefined {
  return namespaces.byIndex('assigned', sourceKey(source)).toSorted(byAge)[0]?.metadata.name;
}

/** The slug on a namespace, for the cache's index `tenant`. */
export const tenantIndex: IndexFunction<Namespace> = ({ metadata }) => {
  const slug = metadata.labels?.[labels.tenant];
  return slug === undefined ? [] : [slug];
};

/**
 * A tenant is a namespace with its label. If two carry the same one, the older is the tenant's, so that no user
 * takes a tenant over by a label. The system tenant needs no label; the global namespace belongs to no tenant.
 */
export function createTenantDirectory(deps: TenantDirectoryDeps): TenantDirectory {
  const { namespaces, systemTenant, systemNamespace } = deps;
  const namespaceOf = (slug: string): string | undefined => {
    if (slug === systemTenant) return systemNamespace;
    return namespaces.byIndex('tenant', slug).filter(isTenants).toSorted(byAge)[0]?.metadata.name;
  };
  const isTenants = ({ metadata }: Namespace): boolean =>
    metadata.name !== systemNamespace && metadata.name !== globalNamespace;
  return {
    namespaceOf,
    uidOf: (slug) => namespaces.get(namespaceOf(slug) ?? '')?.metadata.uid,
    tenantOf(namespace) {
      if (namespace === systemNamespace) return systemTenant;
      const slug = namespaces.get(namespace)?.metadata.labels?.[labels.tenant];
      return slug !== undefined && namespaceOf(slug) === namespace ? slug : undefined;
    },
    assigneeOf: (source) => assigneeIn(namespaces, source),
  };
}

function byAge(a: Namespace, b: Namespace): number {
  const age = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '');
  return age === 0 ? (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '') : age;
}

/** `tenantOf` where one namespace is as it was read, since the directory's cache may be behind it; undefined: it is not there. */
export function tenantOfRead(deps: TenantDirectoryDeps, name: string, read: Namespace | undefined): string | undefined {
  const { namespaces } = deps;
  const slug = read?.metadata.labels?.[labels.tenant];
  const asRead: TenantDirectoryDeps['namespaces'] = {
    get: (key) => (key === name ? read : namespaces.get(key)),
    byIndex: (index, key) => [...namespaces.byIndex(index, key), ...(read !== undefined && slug === key ? [read] : [])],
  };
  return createTenantDirectory({ ...deps, namespaces: asRead }).tenantOf(name);
}

import { AppError } from '../errors.ts';

/**
 * Names that the chart gives to cluster-wide objects. They do not depend on the release. The kinds are cluster-wide, so
 * a cluster holds one Windlass. Tenants made by the command line and by the chart refer to the same roles.
 */
export const clusterNames = {
  /** ServiceAccount of the controllers, in the namespace of the release. */
  controllers: 'windlass-controllers',
  /** ClusterRole with everything the controllers need inside a tenant; bound there, never cluster-wide. */
  tenantController: 'windlass-tenant-controller',
  /** ServiceAccount of the API, in the namespace of the release; the admission policies know it by name. */
  api: 'windlass-api',
  /** ClusterRole with everything the API needs inside a tenant; bound there, never cluster-wide. */
  tenantApi: 'windlass-tenant-api',
  /** ServiceAccount of the tool gateway, in the namespace of the release; the admission policies know it by name. */
  gateway: 'windlass-gateway',
  /** ClusterRole with everything the gateway needs inside a tenant; bound there, never cluster-wide. */
  tenantGateway: 'windlass-tenant-gateway',
  /** ServiceAccount of the relay of edge hosts, in the namespace of the release; the admission policies know it by name. */
  relay: 'windlass-relay',
  /** ClusterRole with everything the relay needs inside a tenant; bound there, never cluster-wide. */
  tenantRelay: 'windlass-tenant-relay',
  /** ClusterRoles for people: read everything of a tenant; also start, decide and define; run tools on its hosts. */
  viewer: 'windlass-viewer',
  operator: 'windlass-operator',
  edgeOperator: 'windlass-edge-operator',
} as const;

/** ServiceAccount of the pods of agents in each tenant's namespace. It has no right; its tokens are for the API alone. */
export const agentServiceAccount = 'windlass-agent';
/** Audience of those tokens: the API server takes none of them. */
export const agentAudience = 'windlass-agents';

/** A tenant's namespace is called `tenant-<slug>`, so that no slug can name a namespace of the cluster's own. */
const namespacePrefix = 'tenant-';
const longestSlug = 63 - namespacePrefix.length;
/** A slug as a regular expression, for schemas. */
export const tenantSlugPattern = `^[a-z0-9]([a-z0-9-]{0,${longestSlug - 2}}[a-z0-9])?$`;
const slugForm = new RegExp(tenantSlugPattern);

/** The form of a slug, in words. */
export const tenantSlugRule = `1 to ${longestSlug} of a-z, 0-9 and '-', with a letter or digit at both ends`;

export function isTenantSlug(text: string): boolean {
  return slugForm.test(text);
}

/** The slug itself, or an AppError `invalid` that says what a slug looks like. */
export function parseTenantSlug(slug: string): string {
  if (isTenantSlug(slug)) return slug;
  throw new AppError('invalid', `tenant '${slug}' is not a valid slug: ${tenantSlugRule}`, { reason: 'InvalidTenant' });
}

/** Namespace of a tenant unless another one is asked for. */
export function tenantNamespace(slug: string): string {
  return `${namespacePrefix}${parseTenantSlug(slug)}`;
}

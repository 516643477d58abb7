import { labels } from '../crds/labels.ts';
import type { Informer } from '../lib/informer/index.ts';
import type { KubeObject, Namespace } from '../lib/kube/index.ts';
import { createTenantInformer, type TenantIndex } from '../lib/tenant/tenant-directory.ts';
import type { InformerSpec } from './runtime/module.ts';

type TenantInformer = Informer<Namespace, TenantIndex>;

/** Namespaces with a tenant's label. */
export const tenantInformer: InformerSpec<TenantInformer> = {
  name: 'tenants',
  kind: 'Namespace',
  open: (deps) => createTenantInformer(deps),
};

/** Says whether a namespace is being deleted. */
export const endingNamespaces =
  ({ cache }: TenantInformer) =>
  (namespace: string): boolean =>
    cache.get(namespace)?.metadata.deletionTimestamp !== undefined;

/**
 * Whether an object is deleted, or ends with its namespace. A terminating namespace deletes our role binding, so finalizers
 * are released first.
 */
export const isTerminating = (
  { isEnding }: { readonly isEnding: (namespace: string) => boolean },
  { metadata }: KubeObject,
): boolean => metadata.deletionTimestamp !== undefined || isEnding(metadata.namespace ?? '');

/** Slug of the tenant that a namespace is; empty where it is none. */
export const tenantOf = ({ cache }: TenantInformer, namespace: string): string =>
  cache.get(namespace)?.metadata.labels?.[labels.tenant] ?? '';

import { globalNamespace } from '../../crds/labels.ts';

/**
 * Namespaces whose objects a tenant sees, its own first: of two objects of one name the tenant's own counts. Without a
 * namespace of its own only shared objects are seen.
 */
export const visiblePlaces = (namespace: string | undefined): string[] => [
  ...new Set(namespace === undefined ? [globalNamespace] : [namespace, globalNamespace]),
];

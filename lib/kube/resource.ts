import type {
  ConfigMap,
  ControllerRevision,
  CustomResourceDefinition,
  Event,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  RoleBinding,
  ServiceAccount,
  Secret,
  StorageClass,
} from './core-objects.ts';
import type { KubeObject, ObjectRef } from './objects.ts';

/** Where a kind lives in the API. The type parameter carries the object's shape into every call of the client. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Answers give no more than `metadata` of each object. */
  readonly metadataOnly?: boolean;
  /** Never set: it only ties `T` to the value, so that calls infer it. */
  readonly shape?: T;
}

/** Describes a kind. `defineResource<WorkflowExecution>({ … })`. */
export function defineResource<T extends KubeObject>(resource: Omit<Resource, 'shape'>): Resource<T> {
  return Object.freeze({ ...resource });
}

/** The same kind, of which answers give no more than the metadata: for kinds whose objects are large. */
export function metadataOf(resource: Resource): Resource<KubeObject> {
  const { shape: _, ...rest } = resource;
  return { ...rest, metadataOnly: true };
}

/** `group/version`, or `version` for the core group: the `apiVersion` of objects of this kind. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** `pods/log`, `workflows.windlass.dev/status`: for metrics and messages. */
export function labelOf(resource: Resource, subresource?: string): string {
  const plural = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}

/**
 * URL path of one object or of a collection, each segment escaped.
 * A namespaced kind without a namespace is the collection of all namespaces, which has no single objects.
 */
export function pathOf(resource: Resource, ref: Partial<ObjectRef> = {}, subresource?: string): string {
  if (ref.name !== undefined && resource.namespaced !== Boolean(ref.namespace)) {
    const problem = resource.namespaced ? 'needs a namespace' : 'is cluster-scoped: leave out the namespace';
    throw new TypeError(`${resource.kind} ${ref.name} ${problem}`);
  }
  const root = resource.group === '' ? 'api' : `apis/${resource.group}`;
  const parts = [root, resource.version];
  if (resource.namespaced && ref.namespace) parts.push('namespaces', encodeURIComponent(ref.namespace));
  parts.push(resource.plural);
  if (ref.name !== undefined) parts.push(segment(ref.name));
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.join('/')}`;
}

/** An empty or dotted name would name another object: `…/pods/` is the collection, `..` its parent. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') throw new TypeError(`'${name}' is not the name of an object`);
  return encodeURIComponent(name);
}

type Row = readonly [group: string, version: string, plural: string, kind: string, scope?: 'cluster'];

function row<T extends KubeObject>([group, version, plural, kind, scope]: Row): Resource<T> {
  return defineResource<T>({ group, version, plural, kind, namespaced: scope !== 'cluster' });
}

export const pods = row<Pod>(['', 'v1', 'pods', 'Pod']);
export const configMaps = row<ConfigMap>(['', 'v1', 'configmaps', 'ConfigMap']);
export const secrets = row<Secret>(['', 'v1', 'secrets', 'Secret']);
export const persistentVolumeClaims = row<PersistentVolumeClaim>([
  '',
  'v1',
  'persistentvolumeclaims',
  'PersistentVolumeClaim',
]);
export const namespaces = row<Namespace>(['', 'v1', 'namespaces', 'Namespace', 'cluster']);
export const nodes = row<Node>(['', 'v1', 'nodes', 'Node', 'cluster']);
export const resourceQuotas = row<ResourceQuota>(['', 'v1', 'resourcequotas', 'ResourceQuota']);
export const controllerRevisions = row<ControllerRevision>(['apps', 'v1', 'controllerrevisions', 'ControllerRevision']);
export const leases = row<Lease>(['coordination.k8s.io', 'v1', 'leases', 'Lease']);
export const events = row<Event>(['events.k8s.io', 'v1', 'events', 'Event']);
export const networkPolicies = row<NetworkPolicy>(['networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy']);
export const roleBindings = row<RoleBinding>(['rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding']);
export const serviceAccounts = row<ServiceAccount>(['', 'v1', 'serviceaccounts', 'ServiceAccount']);
export const storageClasses = row<StorageClass>(['storage.k8s.io', 'v1', 'storageclasses', 'StorageClass', 'cluster']);
export const customResourceDefinitions = row<CustomResourceDefinition>([
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  'cluster',
]);

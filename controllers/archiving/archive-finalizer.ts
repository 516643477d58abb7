import { archiveFinalizer } from '../../crds/labels.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import {
  findObject,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  type Resource,
} from '../../lib/kube/index.ts';

/** The kind of object that is held, and where it is read and written. */
export interface HoldDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'remember'>;
}

export const isHeldForArchive = ({ metadata }: KubeObject): boolean =>
  metadata.finalizers?.includes(archiveFinalizer) === true;

/** Sees to it that a finished execution cannot go before its record is written. */
export const holdForArchive = <T extends KubeObject>(deps: HoldDeps<T>, execution: T): Promise<void> =>
  change(deps, execution, ({ metadata: { finalizers = [], deletionTimestamp } }) =>
    // Kubernetes takes no new finalizer for an object that is being deleted.
    finalizers.includes(archiveFinalizer) || deletionTimestamp !== undefined
      ? undefined
      : [...finalizers, archiveFinalizer],
  );

export const letGoOfArchive = <T extends KubeObject>(deps: HoldDeps<T>, execution: T): Promise<void> =>
  change(deps, execution, ({ metadata: { finalizers = [] } }) =>
    finalizers.includes(archiveFinalizer) ? finalizers.filter((one) => one !== archiveFinalizer) : undefined,
  );

type Finalizers = readonly string[];

/** On the newest version: the status was written a moment ago. */
async function change<T extends KubeObject>(
  { kube, resource, cache }: HoldDeps<T>,
  { metadata: { name = '', namespace = '', uid } }: T,
  next: (newest: T) => Finalizers | undefined,
): Promise<void> {
  const newest = await findObject(kube, resource, { name, namespace });
  if (newest === undefined || newest.metadata.uid !== uid) return;
  const finalizers = next(newest);
  if (finalizers === undefined) return;
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: newest.metadata.resourceVersion },
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
  ];
  cache.remember(await kube.jsonPatch(resource, { name, namespace }, operations));
}

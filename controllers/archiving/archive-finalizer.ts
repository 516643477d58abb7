import { archiveFinalizer } from '../../crds/labels.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import {
  findObject,
  isAbsent,
  isConflict,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  keyOf,
  type Resource,
} from '../../lib/kube/index.ts';

/** The kind of object that is held, and where it is read and written. */
export interface HoldDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'remember' | 'get'>;
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

/** By the version of the cache, which mostly is the newest one: a read costs as much as the write. Once more by that of the server. */
async function change<T extends KubeObject>(
  deps: HoldDeps<T>,
  execution: T,
  next: (newest: T) => Finalizers | undefined,
): Promise<void> {
  const { kube, resource, cache } = deps;
  const { name = '', namespace = '', uid } = execution.metadata;
  const known = cache.get(keyOf(execution));
  if (known !== undefined && known.metadata.uid === uid && (await isChanged(deps, known, next))) return;
  const newest = await findObject(kube, resource, { name, namespace });
  if (newest === undefined || newest.metadata.uid !== uid) return;
  const finalizers = next(newest);
  if (finalizers !== undefined) await write(deps, newest, finalizers);
}

/** False where the cache has nothing to change, and where another version is there by now, or none. */
async function isChanged<T extends KubeObject>(
  deps: HoldDeps<T>,
  known: T,
  next: (newest: T) => Finalizers | undefined,
): Promise<boolean> {
  const finalizers = next(known);
  if (finalizers === undefined) return false;
  try {
    await write(deps, known, finalizers);
    return true;
  } catch (error) {
    if (isConflict(error) || isAbsent(error)) return false;
    throw error;
  }
}

async function write<T extends KubeObject>(
  { kube, resource, cache }: HoldDeps<T>,
  { metadata: { name = '', namespace = '', resourceVersion } }: T,
  finalizers: Finalizers,
): Promise<void> {
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
  ];
  cache.remember(await kube.jsonPatch(resource, { name, namespace }, operations));
}

import { globalNamespace } from '../../crds/labels.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  findObject,
  type KubeClient,
  refOfKey,
  type Resource,
} from '../../lib/kube/index.ts';
import { revisionSubject, type Versioned } from '../../lib/registration/index.ts';

/** Which revisions executions need. */
export interface Needs {
  /** Whether an execution that has not ended runs it, or may be about to. */
  readonly isInUse: (revision: ControllerRevision) => boolean;
  /** Whether any execution runs it or ran it: one that has ended can be run again, with the content that it ran. */
  readonly isNamed: (revision: ControllerRevision) => boolean;
}

export interface CollectDeps extends Needs {
  readonly kube: Pick<KubeClient, 'get' | 'delete'>;
  readonly resource: Resource<Versioned>;
  readonly revisions: Pick<CacheReader<ControllerRevision>, 'get'>;
  /** Revisions by the `namespace/name` of their definition. */
  readonly revisionsOfKey: (key: string) => readonly ControllerRevision[];
  /** By those executions of a namespace that the cache lacks, as the server has them; `''` for all namespaces. */
  readonly uncached: (namespace: string) => Promise<Needs>;
}

/**
 * Deletes the revisions of a definition that is gone, or was replaced by another one of its name, as soon as no
 * execution runs them. Deleting a definition never ends a run. `uid` is that of the object in the cache. The server is
 * asked before anything is deleted: the API stores definition and revision together, and the watch may bring the
 * revision first.
 */
export async function collectRevisions(deps: CollectDeps, key: string, uid: string | undefined): Promise<void> {
  const abandoned = deps
    .revisionsOfKey(key)
    .filter((revision) => revisionSubject(revision)?.uid !== uid && !deps.isInUse(revision));
  if (abandoned.length === 0) return;
  const latest = await findObject(deps.kube, deps.resource, refOfKey(key));
  const isOthers = (revision: ControllerRevision) => revisionSubject(revision)?.uid !== latest?.metadata.uid;
  await removeUnless(deps, abandoned.filter(isOthers), 'isInUse');
}

/**
 * Deletes the content that `force` replaced in a version, once no execution that ran it is left: nothing else starts it
 * any more (ADR 0044). `replaced` are names; `definition` is as it was judged, and nothing is deleted once it has
 * changed.
 */
export async function collectReplaced(
  deps: CollectDeps,
  { metadata: { namespace, name, uid, generation } }: Versioned,
  replaced: readonly string[],
): Promise<void> {
  const unused = replaced
    .map((revision) => deps.revisions.get(`${namespace}/${revision}`))
    .filter((revision) => revision !== undefined)
    .filter((revision) => !deps.isNamed(revision));
  if (unused.length === 0) return;
  const latest = await findObject(deps.kube, deps.resource, { namespace, name });
  if (latest?.metadata.uid !== uid || latest?.metadata.generation !== generation) return;
  await removeUnless(deps, unused, 'isNamed');
}

/** The cache of executions says that none needs them, and may be behind: the server is asked before content is lost (D8). */
async function removeUnless(
  deps: CollectDeps,
  revisions: readonly ControllerRevision[],
  isNeeded: keyof Needs,
): Promise<void> {
  const [first] = revisions;
  if (first === undefined) return;
  const { namespace = '' } = first.metadata;
  // Executions of every namespace run global definitions.
  const uncached = await deps.uncached(namespace === globalNamespace ? '' : namespace);
  for (const revision of revisions) if (!uncached[isNeeded](revision)) await remove(deps, revision);
}

function remove({ kube }: CollectDeps, { metadata }: ControllerRevision): Promise<boolean> {
  const { name = '', namespace = '', uid } = metadata;
  return kube.delete(controllerRevisions, { name, namespace }, { uid });
}

import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { volumes } from '../../lib/kinds.ts';
import { findWanted, type KubeClient, type KubeObject } from '../../lib/kube/index.ts';
import { askServer } from '../runtime/ask-server.ts';
import type { PinnedDefinition, VolumeFact } from './engine/facts.ts';
import { type Caches, observeVolumes } from './observe.ts';
import { tellWaiting } from './waiting.ts';

interface RememberDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly caches: { readonly volumes: Pick<CacheReader<Volume>, 'get' | 'remember'> };
}

/**
 * Reads the volumes of an execution that has begun, where the cache does not show them ready. All were ready before the
 * first state, so the cache of a replica that has taken over may be behind, and a state must not fail for that (D8).
 */
export async function rememberVolumes(
  { kube, caches }: RememberDeps,
  { metadata, status }: Pick<WorkflowExecution, 'metadata' | 'status'>,
): Promise<void> {
  const { namespace = '' } = metadata;
  for (const { volume: name } of Object.values(status?.volumes ?? {})) {
    if (caches.volumes.get(`${namespace}/${name}`)?.status?.phase === 'ready') continue;
    await askServer({ kube, resource: volumes, cache: caches.volumes }, { namespace, name });
  }
}

/** Reads the volume of a uid: one that was made a moment ago, or by the replica before, may not have reached the cache. */
export async function rememberVolume(
  { kube, caches }: { readonly kube: Pick<KubeClient, 'get' | 'list'>; readonly caches: Pick<Caches, 'volumes'> },
  namespace: string,
  uid: string,
): Promise<Volume | undefined> {
  const isWanted = ({ metadata }: KubeObject): boolean => metadata.uid === uid;
  const [found] = await findWanted(kube, volumes, { namespace, isWanted });
  if (found !== undefined) caches.volumes.remember(found);
  return found;
}

interface AwaitDeps {
  readonly caches: Pick<Caches, 'volumes'>;
  readonly onWaiting: (key: string, awaited: string) => void;
}

/** The volumes of an execution; news of one that is not ready wakes it. */
export function awaitedVolumes(
  { caches, onWaiting }: AwaitDeps,
  execution: WorkflowExecution,
  definition: PinnedDefinition,
): Record<string, VolumeFact> {
  const facts = observeVolumes(caches, execution, definition);
  for (const { volume, phase } of Object.values(facts)) {
    if (phase !== 'ready') tellWaiting({ onWaiting }, execution, `${execution.metadata.namespace ?? ''}/${volume}`);
  }
  return facts;
}

import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { WaitError } from '../../lib/errors.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { findObject, type KubeClient, keyOf } from '../../lib/kube/index.ts';

/**
 * Executions whose newest version this process has seen for certain since it leads. The cache of a replica that takes
 * over may be behind the last writes of the one before. No decision on an old version may be carried out. A status
 * write proves the version by itself; where the decision changes no status, it is asked for once.
 */
export interface Confirmed {
  /**
   * `written`: the status was written for this decision. Throws WaitError where the decision is based on an old
   * version.
   */
  check(execution: WorkflowExecution, written: boolean): Promise<void>;
  forget(uid: string): void;
}

interface ConfirmedDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly cache: Pick<CacheReader<WorkflowExecution>, 'remember' | 'get'>;
}

/** Longest wait for the watch to report that an object is gone. */
const goneMs = 1_000;
/**
 * Longest wait for the watch to report a version that the cache does not take from here, as after a restored backup.
 */
const refusedMs = 1_000;

export function createConfirmed({ kube, cache }: ConfirmedDeps): Confirmed {
  const uids = new Set<string>();
  return {
    async check({ metadata }, written) {
      const { uid = '', name, namespace = '', resourceVersion } = metadata;
      if (!written && !uids.has(uid)) {
        const newest = await findObject(kube, workflowExecutions, { namespace, name });
        if (newest === undefined || newest.metadata.uid !== uid) throw new WaitError('Deleted', goneMs);
        cache.remember(newest);
        // Not a conflict, which would be tried again with growing pauses: what is new is known already.
        if (newest.metadata.resourceVersion !== resourceVersion) {
          const isTaken = cache.get(keyOf(newest))?.metadata.resourceVersion !== resourceVersion;
          throw new WaitError('CacheBehind', isTaken ? 0 : refusedMs);
        }
      }
      uids.add(uid);
    },
    forget: (uid) => void uids.delete(uid),
  };
}

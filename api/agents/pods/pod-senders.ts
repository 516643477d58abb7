import { LRUCache } from 'lru-cache';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { logTenantOf } from '../../../lib/conversation/place.ts';
import { AppError } from '../../../lib/errors.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import { claimedPodIn, type PodIdentity, type PodRequest } from './pod-identity.ts';

interface PodSendersDeps {
  readonly executions: { readonly cache: Pick<CacheReader<AgentExecution, 'pod'>, 'getByUid' | 'byIndex'> };
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly identity: PodIdentity;
}

/** Tells whose pod sends a request before its body, which names the execution, is read. */
export interface PodSenders {
  /** The tenant of the pod; undefined where nothing proves one yet. @throws AppError `unavailable` as the proof does. */
  tenantOf(sender: PodRequest): Promise<string | undefined>;
  /** The sender has proven to be the pod of this execution. */
  proved(execution: AgentExecution, sender: PodRequest): void;
}

/** Addresses that are remembered. */
const addressesMax = 2_000;

/**
 * A token names its pod. The address of a pod without one is remembered once it was a proof, and proven anew each time: it may be
 * another pod's by now. A sender whom nothing proves costs the API server nothing.
 */
export function createPodSenders({ executions, tenants, identity }: PodSendersDeps): PodSenders {
  const byAddress = new LRUCache<string, string>({ max: addressesMax });

  function supposed({ authorization, remoteAddress }: PodRequest): AgentExecution | undefined {
    if (authorization === undefined) return executions.cache.getByUid(byAddress.get(remoteAddress) ?? '');
    const claimed = claimedPodIn(authorization);
    return typeof claimed === 'string' ? executions.cache.byIndex('pod', claimed)[0] : undefined;
  }

  return {
    async tenantOf(sender) {
      const execution = supposed(sender);
      if (execution === undefined) return undefined;
      try {
        await identity.require(execution, sender);
      } catch (error) {
        // The handler refuses it, once the body has said which execution it means.
        if (error instanceof AppError && error.code === 'forbidden') return undefined;
        throw error;
      }
      return logTenantOf(execution, tenants);
    },
    proved({ metadata: { uid } }, { authorization, remoteAddress }) {
      if (authorization === undefined && uid !== undefined) byAddress.set(remoteAddress, uid);
    },
  };
}

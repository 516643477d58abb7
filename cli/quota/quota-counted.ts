import type { Clock } from '../../lib/clock.ts';
import { findObject } from '../../lib/kube/find-object.ts';
import type { KubeClient, ResourceQuota } from '../../lib/kube/index.ts';
import { resourceQuotas } from '../../lib/kube/resource.ts';
import { recount, recountKey } from './recount.ts';

interface CountedDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
}

const patienceMs = 60_000;
const pauseMs = 1_000;
const pausesBetweenRecounts = 5;

/**
 * Waits until Kubernetes has counted all that the tenant's quota covers; before that it refuses each create of it. False
 * after 60 s: a kind that the cluster does not have is never counted.
 */
export async function quotaCounted({ kube, clock, interrupted }: CountedDeps, namespace: string): Promise<boolean> {
  const until = clock.now() + patienceMs;
  for (let pauses = 1; ; pauses++) {
    const quota = await findObject(kube, resourceQuotas, { namespace, name: 'windlass' });
    if (quota === undefined || isCounted(quota)) return true;
    if (interrupted.aborted || clock.now() + pauseMs > until) return false;
    await clock.sleep(pauseMs, interrupted);
    if (pauses % pausesBetweenRecounts === 0) await recount(kube, namespace);
  }
}

function isCounted({ spec, status }: ResourceQuota): boolean {
  const limited = Object.keys(spec?.hard ?? {}).filter((resource) => resource !== recountKey);
  return limited.every((resource) => status?.used?.[resource] !== undefined);
}

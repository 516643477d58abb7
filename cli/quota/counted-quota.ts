import type { Clock } from '../../lib/clock.ts';
import { callsOf } from '../../lib/kube/calls-of.ts';
import { isQuotaUncounted, type KubeClient } from '../../lib/kube/index.ts';
import { recount } from './recount.ts';

interface CountedQuotaDeps {
  readonly clock: Clock;
  /** Reports the wait, once. */
  readonly note: (line: string) => void;
  readonly interrupted: AbortSignal;
}

/** The quota controller counts every quota each five minutes. */
const patienceMs = 330_000;
const pauseMs = 1_000;
const pausesBetweenRecounts = 5;

/**
 * The client, with creates that wait for a new ResourceQuota. Kubernetes refuses with 403 what a quota covers until its
 * controller has counted the kind once. That is at once in a new tenant, and up to five minutes after the kinds were
 * installed. After that, or an interrupt, the refusal surfaces as it came.
 */
export function withCountedQuota(kube: KubeClient, { clock, note, interrupted }: CountedQuotaDeps): KubeClient {
  let noted = false;
  const patiently = async <T>(namespace = 'default', call: () => Promise<T>): Promise<T> => {
    const until = clock.now() + patienceMs;
    for (let pauses = 1; ; pauses++) {
      try {
        return await call();
      } catch (error) {
        if (!isQuotaUncounted(error) || interrupted.aborted || clock.now() + pauseMs > until) throw error;
        if (!noted) note(`waiting until Kubernetes has counted the new quota of namespace ${namespace} …`);
        noted = true;
        await clock.sleep(pauseMs, interrupted);
        if (pauses % pausesBetweenRecounts === 0) await recount(kube, namespace);
      }
    }
  };
  return {
    ...callsOf(kube),
    create: (resource, object, options) =>
      patiently(object.metadata.namespace, () => kube.create(resource, object, options)),
    apply: (resource, object, options) =>
      patiently(object.metadata.namespace, () => kube.apply(resource, object, options)),
  };
}

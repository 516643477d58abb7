import type { KubeClient } from '../../lib/kube/index.ts';
import { isAbsent, isForbidden } from '../../lib/kube/kube-error.ts';
import { resourceQuotas } from '../../lib/kube/resource.ts';

/** Limits nothing: no kind has this name. */
export const recountKey = 'count/recounts.windlass.dev';

/**
 * Makes Kubernetes count a quota again. Its controller finds a new kind within 30 s, and then counts quotas at their next
 * change, or at its own pass every five minutes. Callers without the right to change quotas wait for that pass.
 */
export async function recount(kube: Pick<KubeClient, 'mergePatch'>, namespace: string): Promise<void> {
  const ref = { namespace, name: 'windlass' };
  try {
    for (const limit of ['1', null]) {
      const patch = { spec: { hard: { [recountKey]: limit } } };
      await kube.mergePatch(resourceQuotas, ref, patch, { fieldManager: 'windlass-cli' });
    }
  } catch (error) {
    if (!isForbidden(error) && !isAbsent(error)) throw error;
  }
}

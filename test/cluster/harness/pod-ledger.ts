import { type KubeClient, type Pod, pods } from '../../../lib/kube/index.ts';

/** Every step pod that ever existed in a namespace, however short its life. */
export interface PodLedger {
  /** uids of the pods of each slot: `execution/state/visit/attempt/step`. */
  slots(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Slots that had more than one pod. */
  duplicates(): string[];
  /** Slots of one execution. */
  of(execution: string): string[];
  stop(): Promise<void>;
}

const label = 'windlass.dev';

function slotOf(pod: Pod): string | undefined {
  const labels = pod.metadata.labels ?? {};
  if (labels[`${label}/execution-uid`] === undefined) return undefined;
  const parts = ['execution', 'state', 'visit', 'attempt', 'step'];
  return parts.map((part) => labels[`${label}/${part}`] ?? '').join('/');
}

/**
 * Watches the pods of a namespace straight at the API server, from a list on, so that none is missed: a watch from a
 * resourceVersion shows every object that was ever written after it.
 */
export async function openPodLedger(kube: KubeClient, namespace: string): Promise<PodLedger> {
  const slots = new Map<string, Set<string>>();
  const stop = new AbortController();
  const note = (pod: Pod): void => {
    const slot = slotOf(pod);
    if (slot === undefined) return;
    slots.set(slot, (slots.get(slot) ?? new Set()).add(pod.metadata.uid ?? ''));
  };
  const first = await kube.listAll(pods, { namespace });
  first.items.forEach(note);
  let resourceVersion = first.metadata.resourceVersion;
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const events = kube.watch(pods, { namespace, resourceVersion, signal: stop.signal, allowWatchBookmarks: true });
      for await (const event of events) {
        if (event.type === 'ERROR') throw new Error(`the pod ledger lost its stream: ${event.object.message}`);
        resourceVersion = event.object.metadata.resourceVersion;
        if (event.type !== 'BOOKMARK') note(event.object);
      }
    }
  };
  const following = follow();
  // Looked at in stop(); until then a broken ledger must not end the process.
  following.catch(() => undefined);
  return {
    slots: () => slots,
    duplicates: () => [...slots].filter(([, uids]) => uids.size > 1).map(([slot]) => slot),
    of: (execution) => [...slots.keys()].filter((slot) => slot.startsWith(`${execution}/`)),
    async stop() {
      stop.abort();
      await following;
    },
  };
}

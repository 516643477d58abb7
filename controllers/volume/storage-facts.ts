import { labels } from '../../crds/labels.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { Pod } from '../../lib/kube/index.ts';
import type { Fact } from '../runtime/facts.ts';

/**
 * That the pod of a step has mounted a volume, and that it has let it go. The reads and writes of a command are between
 * the two (requirements ORCH-EVT-01, AMB-199).
 */
export function storageFacts(volume: Volume, pod: Pod): Fact[] {
  const mountedAt = startedAt(pod);
  if (mountedAt === undefined) return [];
  const unmountedAt = endedAt(pod);
  const mounted = fact(volume, pod, { operation: 'mount', time: mountedAt });
  return unmountedAt === undefined
    ? [mounted]
    : [mounted, fact(volume, pod, { operation: 'unmount', time: unmountedAt })];
}

interface Moment {
  readonly operation: 'mount' | 'unmount';
  /** RFC 3339. */
  readonly time: string;
}

function fact({ metadata }: Volume, pod: Pod, { operation, time }: Moment): Fact {
  const { uid: subject = '', name, namespace = '' } = metadata;
  const data = {
    operation,
    volume_id: subject,
    volume: name,
    namespace,
    execution_id: pod.metadata.labels?.[labels.executionUid],
    pod: pod.metadata.name,
  };
  const word = `${operation}-${pod.metadata.uid}`;
  return { word, topic: 'volume', type: 'StorageEvent', subject, namespace, time, data };
}

const statesOf = ({ status }: Pod) => (status?.containerStatuses ?? []).flatMap(({ state }) => (state ? [state] : []));

const earliest = (times: readonly (string | undefined)[]): string | undefined =>
  times.filter((time) => time !== undefined).toSorted()[0];

const startedAt = (pod: Pod): string | undefined =>
  earliest(statesOf(pod).map(({ running, terminated }) => running?.startedAt ?? terminated?.startedAt));

/** Undefined while a container may still use the volume. */
function endedAt(pod: Pod): string | undefined {
  const { phase } = pod.status ?? {};
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  return statesOf(pod)
    .map(({ terminated }) => terminated?.finishedAt)
    .filter((time) => time !== undefined)
    .toSorted()
    .at(-1);
}

import type { ExecutionReason } from '../../crds/conditions.ts';
import type { Pod } from '../../lib/kube/index.ts';
import type { Failure } from './step.ts';

/** Losses of a pod through no fault of its own (requirements AMB-191). */
const disruptions: ReadonlySet<ExecutionReason> = new Set([
  'PodDrained',
  'PodPreempted',
  'PodEvicted',
  'NodeShutdown',
  'NodeLost',
]);

/** Whether a failure says that the pod was lost through no fault of its own. */
export const isDisruption = (failure: Failure | undefined): boolean =>
  failure !== undefined && disruptions.has(failure.reason);

/** Reasons of the pod condition `DisruptionTarget`; that of the kubelet covers several (see `endedByKubelet`). */
const conditionReasons: Readonly<Record<string, ExecutionReason>> = {
  EvictionByEvictionAPI: 'PodDrained',
  PreemptionByScheduler: 'PodPreempted',
  DeletionByTaintManager: 'NodeLost',
  DeletionByPodGC: 'NodeLost',
};

/** Words in the pod's `status.reason` with which a kubelet ends a pod, whatever its container had done. */
const statusReasons: Readonly<Record<string, ExecutionReason>> = {
  Evicted: 'PodEvicted',
  Terminated: 'NodeShutdown',
  NodeShutdown: 'NodeShutdown',
  Preempting: 'PodPreempted',
  NodeLost: 'NodeLost',
};

/** The actor that took the pod away and the reason, by its conditions and status; undefined where none is given. */
export function disruptionOf(pod: Pod): Failure | undefined {
  const target = conditionOf(pod);
  if (target === undefined) return endedByKubelet(pod);
  const { reason: by = '', message = '' } = target;
  const reason = conditionReasons[by] ?? statusReasons[pod.status?.reason ?? ''] ?? kubeletReason(message);
  return { reason, message: withNode(pod, message || by) };
}

const conditionOf = ({ status: { conditions = [] } = {} }: Pod) =>
  conditions.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');

/** A kubelet that evicts a pod for what that wrote itself names no disruption: the pod's own limits were at stake. */
function endedByKubelet(pod: Pod): Failure | undefined {
  const { reason: word = '', message = '' } = pod.status ?? {};
  const reason = statusReasons[word];
  if (reason === undefined) return undefined;
  return { reason: reason === 'PodEvicted' ? 'StorageExceeded' : reason, message: withNode(pod, message || word) };
}

/** Its condition comes before its status. */
function kubeletReason(message: string): ExecutionReason {
  if (message.includes('node shutdown')) return 'NodeShutdown';
  return message.includes('critical pod') ? 'PodPreempted' : 'PodEvicted';
}

const withNode = ({ spec: { nodeName } }: Pod, message: string): string =>
  nodeName === undefined ? message : `node ${nodeName}: ${message}`;

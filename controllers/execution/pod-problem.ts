import type { ContainerState, Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import type { Failure } from './facts.ts';

/** How long after its grace a pod that was told to go may keep silent before its node counts as lost, in milliseconds. */
const silenceMs = 15_000;

/** Why a container that has not started never will. */
const startReasons: Readonly<Record<string, Failure['reason']>> = {
  ImagePullBackOff: 'ImagePullFailed',
  InvalidImageName: 'ImagePullFailed',
  ErrImageNeverPull: 'ImagePullFailed',
  RegistryUnavailable: 'ImagePullFailed',
  SignatureValidationFailed: 'ImagePullFailed',
  CreateContainerConfigError: 'ContainerStartFailed',
  CreateContainerError: 'ContainerStartFailed',
  RunContainerError: 'ContainerStartFailed',
  PostStartHookError: 'ContainerStartFailed',
};

/**
 * Why a pod will never hand over an output, judged by its object alone at a time (milliseconds since the epoch).
 * Undefined while it may.
 */
export function podProblem(pod: Pod, now: number): Failure | undefined {
  const state = stepState(pod);
  if (state?.terminated !== undefined) return undefined;
  return startProblem(pod, state) ?? rejection(pod) ?? silence(pod, now);
}

/** When silence becomes a problem, in milliseconds since the epoch; undefined where nobody waits for the pod's end. */
export function silenceEndsAt(pod: Pod): number | undefined {
  const { deletionTimestamp } = pod.metadata;
  return deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) + silenceMs;
}

function startProblem(pod: Pod, state: ContainerState | undefined): Failure | undefined {
  const init = pod.status?.initContainerStatuses?.map((status) => status.state?.waiting) ?? [];
  for (const waiting of [state?.waiting, ...init]) {
    const { reason: word = '', message = '' } = waiting ?? {};
    const reason = startReasons[word];
    if (reason !== undefined) return { reason, message: `${word}: ${message}` };
  }
  return undefined;
}

/** The kubelet ended the pod without ever running, or finishing, its container. */
function rejection(pod: Pod): Failure | undefined {
  const { phase, reason = '', message = '' } = pod.status ?? {};
  if (phase !== 'Failed') return undefined;
  if (reason === 'Evicted') return { reason: 'PodEvicted', message };
  if (reason === 'NodeLost' || reason === 'NodeShutdown' || reason === 'Terminated') {
    return { reason: 'NodeLost', message: message === '' ? reason : message };
  }
  return { reason: 'PodRejected', message: `${reason}: ${message}` };
}

/** The pod was told to go and its kubelet says nothing any more. */
function silence(pod: Pod, now: number): Failure | undefined {
  const endsAt = silenceEndsAt(pod);
  if (endsAt === undefined || now < endsAt) return undefined;
  const disrupted = pod.status?.conditions?.find(
    ({ type, status }) => type === 'DisruptionTarget' && status === 'True',
  );
  if (disrupted !== undefined) {
    const message = `node ${pod.spec.nodeName ?? ''}: ${disrupted.message ?? disrupted.reason ?? ''}`;
    return { reason: 'NodeLost', message };
  }
  if (pod.spec.nodeName === undefined) return { reason: 'PodDeleted', message: 'the pod was deleted before it ran' };
  return { reason: 'NodeLost', message: `node ${pod.spec.nodeName} does not answer` };
}

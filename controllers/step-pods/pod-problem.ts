import type { ContainerState, ContainerStateTerminated, Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import { disruptionOf } from './disruption.ts';
import type { Failure } from './step.ts';

/** How long after its grace a pod in deletion may be silent before its node counts as lost, in milliseconds. */
const silenceMs = 15_000;

/** Why a container never will start, however long one waits. Everything else may still pass (requirements AMB-190). */
const startReasons: Readonly<Record<string, Failure['reason']>> = {
  InvalidImageName: 'ImagePullFailed',
  ErrImageNeverPull: 'ImagePullFailed',
  SignatureValidationFailed: 'ImagePullFailed',
  PostStartHookError: 'ContainerStartFailed',
};

/** Words for a container in which no process ever began, and for one that its node has lost. */
const stillborn: Readonly<Record<string, Failure['reason']>> = {
  StartError: 'ContainerStartFailed',
  ContainerCannotRun: 'ContainerStartFailed',
  ContainerStatusUnknown: 'NodeLost',
};

/**
 * Why a pod will never hand over an output, judged by its object alone at a time (milliseconds since the epoch).
 * Undefined while it may.
 */
export function podProblem(pod: Pod, now: number): Failure | undefined {
  const state = stepState(pod);
  if (state?.terminated !== undefined) return neverRan(pod, state.terminated);
  return startProblem(pod, state) ?? rejection(pod) ?? silence(pod, now);
}

/**
 * When silence becomes a problem, in milliseconds since the epoch; undefined where no state waits for the pod's end.
 */
export function silenceEndsAt(pod: Pod): number | undefined {
  const { deletionTimestamp } = pod.metadata;
  return deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) + silenceMs;
}

function neverRan(pod: Pod, { reason: word = '', message = '' }: ContainerStateTerminated): Failure | undefined {
  const reason = stillborn[word];
  if (reason === undefined) return undefined;
  return (reason === 'NodeLost' ? disruptionOf(pod) : undefined) ?? { reason, message: `${word}: ${message}` };
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

/** The pod was ended without its container ever running, or finishing. */
function rejection(pod: Pod): Failure | undefined {
  const { phase, reason = '', message = '' } = pod.status ?? {};
  if (phase !== 'Failed') return undefined;
  const disruption = disruptionOf(pod);
  if (disruption !== undefined) return disruption;
  const words = [reason, message].filter((word) => word !== '').join(': ');
  return { reason: 'PodRejected', message: words === '' ? 'the pod failed, and its status does not say why' : words };
}

/** The pod is in deletion and its kubelet is silent. */
function silence(pod: Pod, now: number): Failure | undefined {
  const endsAt = silenceEndsAt(pod);
  if (endsAt === undefined || now < endsAt) return undefined;
  const disruption = disruptionOf(pod);
  if (disruption !== undefined) return disruption;
  if (pod.spec.nodeName === undefined) return { reason: 'PodDeleted', message: 'the pod was deleted before it ran' };
  return { reason: 'NodeLost', message: `node ${pod.spec.nodeName} does not answer` };
}

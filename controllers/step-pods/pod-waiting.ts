import type { ExecutionReason } from '../../crds/conditions.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import type { Waiting } from './step.ts';
import { stepPodLimits } from './limits.ts';

/** Text of the newest Event of a pod that has no container yet; undefined where there is none. */
export type NoteOf = (pod: Pod) => string | undefined;

/** Words of the kubelet for a container that it could not start yet and will try again. */
const trouble: Readonly<Record<string, ExecutionReason>> = {
  ErrImagePull: 'WaitingForImage',
  ImagePullBackOff: 'WaitingForImage',
  ImageInspectError: 'WaitingForImage',
  RegistryUnavailable: 'WaitingForImage',
  CreateContainerConfigError: 'WaitingForContainer',
  CreateContainerError: 'WaitingForContainer',
  RunContainerError: 'WaitingForContainer',
};

/** First words of waits in which nothing is wrong: every pod has them, if only for a moment. */
const routineWords: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', 'Pulling']);

/** Whether a wait is the ordinary start of a pod, by the message that it is shown with. */
export const isRoutine = (message: string): boolean => routineWords.has(message.split(':', 1)[0] ?? '');

/** The kubelet's times have no fractions of a second. */
const kubeletTickMs = 1_000;

/**
 * When the step's container began to run, by the kubelet's clock, in milliseconds since the epoch; undefined: it has not.
 * A time before the pod was made shows a clock that is wrong: then it is infinite, and the reader's own time counts.
 */
export function begunAt(pod: Pod): number | undefined {
  const { running, terminated } = stepState(pod) ?? {};
  const begun = running ?? terminated;
  if (begun === undefined) return undefined;
  const at = Date.parse(begun.startedAt ?? '');
  const createdAt = Date.parse(pod.metadata.creationTimestamp ?? '');
  return Number.isNaN(at) || at < createdAt ? Number.POSITIVE_INFINITY : at;
}

/**
 * The latest moment at which the step's container can have ended, in milliseconds since the epoch. It is by the
 * kubelet's clock, which gives whole seconds. Undefined where the container runs, or that clock is wrong.
 */
export function endedAt(pod: Pod): number | undefined {
  const at = Date.parse(stepState(pod)?.terminated?.finishedAt ?? '');
  return Number.isNaN(at) || begunAt(pod) === Number.POSITIVE_INFINITY ? undefined : at + kubeletTickMs;
}

/** Reason of a pod's wait, in Kubernetes' own words; undefined once its container runs or has run. */
export function podWaiting(pod: Pod, noteOf: NoteOf = () => undefined): Waiting | undefined {
  if (begunAt(pod) !== undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  return troubleOf(pod, noteOf) ?? unscheduled(pod) ?? quietStart(pod, noteOf);
}

function troubleOf(pod: Pod, noteOf: NoteOf): Waiting | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const waits = [...initContainerStatuses, ...containerStatuses].map(({ state }) => state?.waiting);
  const found = waits.find((waiting) => trouble[waiting?.reason ?? ''] !== undefined);
  const reason = trouble[found?.reason ?? ''];
  if (found === undefined || reason === undefined) return undefined;
  return { reason, message: withNote(troubleText(found), noteOf(pod)), since: 0 };
}

type ContainerWait = { readonly reason?: string; readonly message?: string };

const troubleText = ({ reason: word = '', message = '' }: ContainerWait): string =>
  trouble[word] === 'WaitingForImage' ? imageTrouble(message) || word : `${word}: ${message}`;

/** An Event may name what the status leaves out, such as a Secret that is not there. */
const withNote = (text: string, note: string | undefined): string =>
  note === undefined || text.includes(note) ? text : `${text}; ${note}`;

/** The kubelet says the same in two ways, in turn: with each try to pull, and while it backs off. */
const imageTrouble = (message: string): string =>
  message.replace(/^Back-off pulling image "[^"]*": ErrImagePull: /, '');

function unscheduled({ status: { conditions = [] } = {} }: Pod): Waiting | undefined {
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const { reason = 'Unschedulable', message = '' } = scheduled;
  return { reason: 'WaitingForNode', message: `${reason}: ${message}`, since: 0 };
}

/** No pod runs at once; from a moment on it is worth saying that one does not. */
function quietStart(pod: Pod, noteOf: NoteOf): Waiting {
  const since = Date.parse(pod.metadata.creationTimestamp ?? '') + stepPodLimits.quietStartMs;
  // A kubelet with much to do acknowledges a pod of its node late; without a node, no scheduler has looked at it.
  const unseen = pod.spec.nodeName === undefined ? 'Pending' : 'ContainerCreating';
  const word = stepState(pod)?.waiting?.reason ?? unseen;
  const message = noteOf(pod) ?? word;
  return { reason: 'WaitingForContainer', message, since: Number.isNaN(since) ? 0 : since };
}

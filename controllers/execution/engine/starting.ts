import { limits } from '../../../crds/limits.ts';
import { cutMiddle } from '../../../lib/cut-text.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { instantAfter } from '../../../lib/instant.ts';
import type { PodSlot } from '../../../lib/pod-slot.ts';
import { isRoutine } from '../../step-pods/pod-waiting.ts';
import { noResult } from '../../step-pods/step.ts';
import { engineLimits } from '../limits.ts';
import type { Draft } from './draft.ts';
import type { Failure, Made, PodFact, StepOutcome, Waiting } from './facts.ts';
import { podName } from './names.ts';
import { type CurrentVisit, unchanged, type VisitChange } from './reduce.ts';
import { restOn } from './rest-on.ts';

/** Room for the cause of a wait in status, in characters. */
const causeLength = 768;

/** A step before its container runs: since when it has waited, and its pod where there is one. */
interface Queued {
  readonly name: string;
  /** The object that is to start. */
  readonly made: Made;
  readonly since: string;
  readonly pod: PodFact | undefined;
  /** The cause that the visit shows. */
  readonly waiting: CurrentVisit['waiting'];
}

/** The pod of a slot. One that is there has the name that the version of the engine gave it which made it. */
export const podOfSlot = ({ facts }: Draft, slot: PodSlot, pod: PodFact | undefined): Made => ({
  of: 'pod',
  name: pod?.name ?? podName(facts.execution, slot),
});

/**
 * The pod of a slot. Where it counts as lost, its node has been silent for too long: a cache that is behind shows that too of
 * one that has ended.
 */
export function findPod(draft: Draft, { state, visit, attempt, step }: PodSlot): PodFact | undefined {
  const pod = draft.facts.pods.find(
    ({ slot }) => slot.state === state && slot.visit === visit && slot.attempt === attempt && slot.step === step,
  );
  if (pod?.outcome !== undefined && pod.lost) restOn(draft, { of: 'pod', name: pod.name });
  return pod;
}

/** Whether a step's container has begun to run, or has no part in deciding any more. */
export const hasBegun = (pod: PodFact | undefined): boolean =>
  pod !== undefined && (pod.begunAt !== undefined || pod.ended || pod.outcome !== undefined);

/** How a step ends that has waited for longer than `queue_timeout`; undefined while it may wait (requirements AMB-190). */
export function queueOutcome(draft: Draft, queued: Queued): StepOutcome | undefined {
  const text = queueTimeout(draft);
  const endsAt = Date.parse(queued.since) + parseDuration(text, { field: 'queue_timeout' });
  if (draft.now >= endsAt) return neverStarted(draft, queued, `its queue_timeout of ${text}`);
  draft.wakeAt(endsAt);
  return undefined;
}

/** The outcome of a step whose container never ran; its exit code is -1 (requirements AMB-160). */
export function neverStarted(draft: Draft, queued: Omit<Queued, 'since'>, bound: string): StepOutcome {
  const { name, made, pod, waiting } = queued;
  restOn(draft, made);
  const cause = causeOf(draft, pod)?.message ?? waiting?.message ?? 'nothing says for what';
  const message = `${name} did not start within ${bound}; it waited: ${cutMiddle(cause, causeLength)}`;
  return noResult({ reason: 'NeverStarted', message });
}

/** Why a step waits: what Kubernetes says of its pod, or why it refuses to make one. */
export function causeOf({ facts: { blocked } }: Draft, pod: PodFact | undefined): Waiting | undefined {
  if (pod !== undefined) return pod.waiting;
  return blocked === undefined ? undefined : { reason: blocked.reason, message: blocked.message, since: 0 };
}

/**
 * Shows what the state waits for: the cause that is shown already as long as it holds for a step, else the first. An
 * Event tells of a new kind of cause only, for the words of one change with every try.
 */
export function showWaiting(
  draft: Draft,
  current: CurrentVisit,
  causes: readonly (Waiting | undefined)[],
): VisitChange {
  const known = causes.filter((cause) => cause !== undefined);
  for (const { since } of known) if (since > draft.now) draft.wakeAt(since);
  const due = known.filter(({ since }) => since <= draft.now);
  const cause = due.find(({ message }) => cutMiddle(message, causeLength) === current.waiting?.message) ?? due[0];
  return cause === undefined ? waitsNoMore(current) : show(draft, current, cause);
}

/** Nothing is waited for any more. */
export const waitsNoMore = ({ waiting }: CurrentVisit): VisitChange =>
  waiting === undefined ? unchanged : { waiting: undefined };

function show(draft: Draft, current: CurrentVisit, cause: Waiting): VisitChange {
  const message = cutMiddle(cause.message, causeLength);
  const { reason } = cause;
  const since = current.waiting?.reason === reason ? current.waiting.since : draft.time;
  const isNews = current.waiting?.reason !== reason || isRoutine(current.waiting.message);
  if (isNews && !isRoutine(message)) draft.recordEvent('Warning', reason, `${current.state}: ${message}`);
  return { waiting: { reason, message, since } };
}

/**
 * The default timeout counts from the start of the first container or child (requirements AMB-190). That is written down
 * once it has run for a moment, which most never do, or at once where the status is written anyway.
 */
export function noteStart(
  draft: Draft,
  current: CurrentVisit,
  begunAt: number | undefined,
  atOnce = false,
): VisitChange {
  if (begunAt === undefined || current.started_at !== undefined) return unchanged;
  if (draft.currentState()?.timeout !== undefined) return unchanged;
  // The node's clock may be wrong in either direction.
  const at = Math.max(Date.parse(current.entered_at), Math.min(begunAt, draft.now));
  const settlesAt = at + engineLimits.startSettlesMs;
  const isKnown = begunAt <= draft.now && current.waiting === undefined;
  if (isKnown && !atOnce && draft.now < settlesAt) {
    draft.wakeAt(settlesAt);
    return unchanged;
  }
  const deadline = instantAfter(at, parseDuration(limits.stateTimeoutDefault, { field: 'timeout' }));
  return { started_at: new Date(at).toISOString(), deadline };
}

/** Takes a wait away that is over, together with the note of the start, once the container has run for a moment. */
export function showStart(draft: Draft, current: CurrentVisit, pod: PodFact | undefined): VisitChange {
  const settlesAt = startShownAt(draft, current, pod);
  if (draft.now < settlesAt) {
    draft.wakeAt(settlesAt);
    return unchanged;
  }
  return { ...noteStart(draft, current, pod?.begunAt), ...waitsNoMore(current) };
}

/** The output of a container that has ended is about to be known, and the write of the outcome takes the wait away too. */
function startShownAt({ now }: Draft, { waiting }: CurrentVisit, pod: PodFact | undefined): number {
  const { begunAt, endedAt } = pod ?? {};
  const isShort = endedAt !== undefined && Math.abs(endedAt - now) < engineLimits.outputSettlesMs;
  if (isShort) return endedAt + engineLimits.outputSettlesMs;
  const isBehindWait = waiting !== undefined && begunAt !== undefined && begunAt <= now;
  return isBehindWait ? begunAt + engineLimits.waitSettlesMs : now;
}

/** The first of a state's containers to run says when the state began to. */
export function firstBegun(pods: readonly (PodFact | undefined)[]): number | undefined {
  const begun = pods.map((pod) => pod?.begunAt).filter((at) => at !== undefined);
  return begun.length === 0 ? undefined : Math.min(...begun);
}

function queueTimeout(draft: Draft): string {
  const state = draft.currentState();
  const own = state !== undefined && 'queue_timeout' in state ? state.queue_timeout : undefined;
  return own ?? limits.queueTimeoutDefault;
}

/** Why a child, an agent or a tool call that does not show was not made. */
export const notMadeCause = ({ facts: { blocked } }: Draft): string => blocked?.message ?? 'it was not made';

/** Why a child execution did not begin. */
export function childNeverStarted(draft: Draft, current: CurrentVisit, made: Made, cause: string): Failure | undefined {
  const { state, entered_at: since, waiting } = current;
  const queued = { name: `the child of state ${state}`, made, since, pod: undefined, waiting };
  const failure = queueOutcome(draft, queued)?.failure;
  return failure === undefined
    ? undefined
    : {
        ...failure,
        message: `${queued.name} did not start within its queue_timeout of ${queueTimeout(draft)}; ${cause}`,
      };
}

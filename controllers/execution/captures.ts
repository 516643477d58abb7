import { type Captured, CaptureError, createCapture } from '../../lib/capture/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { isNotFound, type KubeClient, type Pod } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { outcomeOfCapture, outcomeOfLoss } from './captured-outcome.ts';
import type { StepOutcome } from './facts.ts';
import { stepContainer } from './pod.ts';
import { stepState } from './pod-problem.ts';

/** The log of a step is followed for at most its first minute: for a longer one the kubelet's delay is noise. */
const followMs = 60_000;
/** Logs that are followed at once. */
const streamsMax = 200;
/** Waits between readings of a log that cannot be read, in milliseconds; after the last one the output counts as lost. */
const rereadAfterMs = [200, 500, 1_000, 2_000, 5_000, 10_000, 10_000];

export interface CapturesDeps {
  readonly kube: Pick<KubeClient, 'readLog'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the outcome of a pod has become known. */
  readonly onKnown: (pod: Pod) => void;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
}

/** Takes the output of steps from their logs (design §6). */
export interface Captures {
  /** The outcome where it is known. Otherwise finds it out, and calls `onKnown` then. */
  outcomeOf(pod: Pod): StepOutcome | undefined;
  /** Forgets a pod that nobody waits for. */
  forget(uid: string): void;
}

interface Entry {
  outcome?: StepOutcome;
  /** The newest version of the pod that was asked for. */
  pod: Pod;
  readonly stop: AbortController;
  following: boolean;
  reading: boolean;
  followed: boolean;
}

/**
 * Follows the log of a young step, so that its trailer tells the outcome before the kubelet does, and reads the whole
 * log of one that has ended. The outcome is the same whichever way it came, for both read the same bytes.
 */
export function createCaptures(deps: CapturesDeps): Captures {
  const entries = new Map<string, Entry>();
  let streams = 0;

  async function follow(entry: Entry): Promise<void> {
    streams += 1;
    entry.following = true;
    entry.followed = true;
    const end = AbortSignal.any([entry.stop.signal, deps.signal]);
    const tooLong = new AbortController();
    void deps.clock.sleep(followMs, end).then(() => tooLong.abort());
    try {
      const captured = await readUntilTrailer(deps, entry.pod, {
        follow: true,
        signal: AbortSignal.any([end, tooLong.signal]),
      });
      settle(entry, outcomeOfCapture(captured, entry.pod));
    } catch (error) {
      deps.logger.debug({ err: error, pod: entry.pod.metadata.name }, 'followed log brought no outcome');
    } finally {
      tooLong.abort();
      streams -= 1;
      entry.following = false;
    }
    if (entry.outcome === undefined) consider(entry);
  }

  async function read(entry: Entry): Promise<void> {
    entry.reading = true;
    let outcome: StepOutcome | undefined;
    for (const delayMs of rereadAfterMs) {
      outcome = await tryRead(deps, entry.pod, entry.stop.signal);
      if (outcome !== undefined || ended(entry)) break;
      await deps.clock.sleep(delayMs, AbortSignal.any([entry.stop.signal, deps.signal]));
    }
    if (ended(entry)) return;
    settle(entry, outcome ?? (await lastRead(deps, entry.pod, entry.stop.signal)));
  }

  const ended = (entry: Entry): boolean => entry.stop.signal.aborted || deps.signal.aborted;

  function settle(entry: Entry, outcome: StepOutcome): void {
    entry.outcome = outcome;
    deps.onKnown(entry.pod);
  }

  function consider(entry: Entry): void {
    const state = stepState(entry.pod);
    if (ended(entry) || entry.following || entry.reading) return;
    if (state?.terminated !== undefined) void read(entry);
    else if (state?.running !== undefined && !entry.followed && streams < streamsMax) void follow(entry);
  }

  return {
    outcomeOf(pod) {
      const uid = pod.metadata.uid ?? '';
      const entry = entries.get(uid) ?? newEntry(pod);
      entries.set(uid, entry);
      entry.pod = pod;
      if (entry.outcome === undefined) consider(entry);
      return entry.outcome;
    },
    forget(uid) {
      entries.get(uid)?.stop.abort();
      entries.delete(uid);
    },
  };
}

const newEntry = (pod: Pod): Entry => ({
  pod,
  stop: new AbortController(),
  following: false,
  reading: false,
  followed: false,
});

type Reading = { readonly follow: boolean; readonly signal: AbortSignal };

/** @throws CaptureError, or what reading the log throws. */
async function readUntilTrailer(deps: CapturesDeps, pod: Pod, { follow, signal }: Reading): Promise<Captured> {
  const { name = '', namespace = '' } = pod.metadata;
  const capture = createCapture();
  for await (const chunk of deps.kube.readLog({ name, namespace }, { container: stepContainer, follow, signal })) {
    capture.push(chunk);
    if (capture.isComplete()) break;
  }
  return capture.finish();
}

/** The outcome, or undefined where reading again may bring it. */
async function tryRead(deps: CapturesDeps, pod: Pod, signal: AbortSignal): Promise<StepOutcome | undefined> {
  try {
    return outcomeOfCapture(await readUntilTrailer(deps, pod, { follow: false, signal }), pod);
  } catch (error) {
    const killed = stepState(pod)?.terminated?.reason === 'OOMKilled';
    const final = isNotFound(error) || (killed && error instanceof CaptureError);
    return final ? outcomeOfLoss(error, pod) : undefined;
  }
}

async function lastRead(deps: CapturesDeps, pod: Pod, signal: AbortSignal): Promise<StepOutcome> {
  try {
    return outcomeOfCapture(await readUntilTrailer(deps, pod, { follow: false, signal }), pod);
  } catch (error) {
    deps.logger.warn({ err: error, pod: pod.metadata.name }, 'output of a step is lost');
    return outcomeOfLoss(error, pod);
  }
}

import { type Captured, CaptureError, createCapture } from '../../lib/capture/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool, type Place } from '../../lib/fair-pool.ts';
import { isNotFound, type KubeClient, KubeError, type Pod } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { stepContainer, stepState } from '../../lib/pod-slot.ts';
import { outcomeOfCapture, outcomeOfLoss } from './captured-outcome.ts';
import type { StepOutcome } from './facts.ts';

/**
 * The log of a step is followed for at most its first minute: for a longer one the kubelet's delay is noise. One that
 * has ended stands there in full; a reading that takes longer has got stuck.
 */
const readingMs = 60_000;
/** Logs that are followed at once, of which one tenant has four fifths. */
const streamsMax = 250;
/** Waits between readings of a log that cannot be read, in milliseconds; after the last one the output counts as lost. */
const rereadAfterMs = [200, 500, 1_000, 2_000, 5_000, 10_000, 10_000];
/** Wait before asking again an API server that did not answer; the output outlives its outage (design §6). */
const unansweredAfterMs = 5_000;

interface CapturesDeps {
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

/**
 * Follows the log of a young step, so that its trailer tells the outcome before the kubelet does, and reads the whole
 * log of one that has ended. The outcome is the same whichever way it came, for both read the same bytes.
 */
export function createCaptures(deps: CapturesDeps): Captures {
  return new LogCaptures(deps);
}

/** What is known of one pod. */
interface Entry {
  outcome?: StepOutcome;
  /** The newest version of the pod that was asked for. */
  pod: Pod;
  /** Somebody reads its log now. */
  busy: boolean;
  followed: boolean;
  readonly stop: AbortController;
}

class LogCaptures implements Captures {
  readonly #deps: CapturesDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #streams = createFairPool({ size: streamsMax });

  constructor(deps: CapturesDeps) {
    this.#deps = deps;
  }

  outcomeOf(pod: Pod): StepOutcome | undefined {
    const uid = pod.metadata.uid ?? '';
    const entry = this.#entries.get(uid) ?? { pod, stop: new AbortController(), busy: false, followed: false };
    this.#entries.set(uid, entry);
    entry.pod = pod;
    this.#consider(entry);
    return entry.outcome;
  }

  forget(uid: string): void {
    this.#entries.get(uid)?.stop.abort();
    this.#entries.delete(uid);
  }

  #consider(entry: Entry): void {
    if (entry.outcome !== undefined || entry.busy || this.#isOver(entry)) return;
    const state = stepState(entry.pod);
    if (state?.terminated !== undefined) void this.#read(entry);
    else if (state?.running !== undefined && !entry.followed) this.#tryFollow(entry);
  }

  #tryFollow(entry: Entry): void {
    const place = this.#streams.tryEnter({ tenant: entry.pod.metadata.namespace ?? '' });
    if (place !== undefined) void this.#follow(entry, place);
  }

  async #follow(entry: Entry, place: Place): Promise<void> {
    entry.busy = true;
    entry.followed = true;
    try {
      const signal = AbortSignal.any([this.#deps.signal, entry.stop.signal]);
      this.#settle(entry, outcomeOfCapture(await readLog(this.#deps, entry.pod, { follow: true, signal }), entry.pod));
    } catch (error) {
      this.#deps.logger.debug({ err: error, pod: entry.pod.metadata.name }, 'followed log brought no outcome');
    } finally {
      place.leave();
      entry.busy = false;
    }
    this.#consider(entry);
  }

  async #read(entry: Entry): Promise<void> {
    entry.busy = true;
    const signal = AbortSignal.any([this.#deps.signal, entry.stop.signal]);
    let outcome = await tryRead(this.#deps, entry.pod, signal);
    for (let failures = 0; 'lost' in outcome && !this.#isOver(entry); ) {
      const delayMs = isUnanswered(outcome.lost) ? unansweredAfterMs : rereadAfterMs[failures++];
      if (delayMs === undefined) break;
      await this.#deps.clock.sleep(delayMs, signal);
      outcome = await tryRead(this.#deps, entry.pod, signal);
    }
    entry.busy = false;
    if (this.#isOver(entry)) return;
    if ('lost' in outcome) {
      this.#deps.logger.warn({ err: outcome.lost, pod: entry.pod.metadata.name }, 'output of a step is lost');
      outcome = outcomeOfLoss(outcome.lost, entry.pod);
    }
    this.#settle(entry, outcome);
  }

  #settle(entry: Entry, outcome: StepOutcome): void {
    entry.outcome = outcome;
    this.#deps.onKnown(entry.pod);
  }

  #isOver(entry: Entry): boolean {
    return entry.stop.signal.aborted || this.#deps.signal.aborted;
  }
}

type Reading = { readonly follow: boolean; readonly signal: AbortSignal };

/** @throws CaptureError, or what reading the log throws. */
async function readLog({ kube, clock }: CapturesDeps, pod: Pod, { follow, signal: stop }: Reading): Promise<Captured> {
  const { name = '', namespace = '' } = pod.metadata;
  const enough = new AbortController();
  const signal = AbortSignal.any([stop, enough.signal]);
  void clock.sleep(readingMs, signal).then(() => enough.abort());
  const capture = createCapture();
  try {
    for await (const chunk of kube.readLog({ name, namespace }, { container: stepContainer, follow, signal })) {
      capture.push(chunk);
      if (capture.isComplete()) break;
    }
    return capture.finish();
  } finally {
    enough.abort();
  }
}

/** The outcome, or why it could not be read; reading again may bring it, unless the runner itself was killed. */
async function tryRead(
  deps: CapturesDeps,
  pod: Pod,
  signal: AbortSignal,
): Promise<StepOutcome | { readonly lost: unknown }> {
  try {
    return outcomeOfCapture(await readLog(deps, pod, { follow: false, signal }), pod);
  } catch (error) {
    const killed = stepState(pod)?.terminated?.reason === 'OOMKilled';
    const final = isNotFound(error) || (killed && error instanceof CaptureError);
    return final ? outcomeOfLoss(error, pod) : { lost: error };
  }
}

/** The API server is away or overloaded: that says nothing of the log. A node that is away shows as another error. */
function isUnanswered(error: unknown): boolean {
  if (error instanceof KubeError) return error.status === 429 || error.status === 503;
  return error instanceof AppError && !(error instanceof CaptureError) && error.code === 'unavailable';
}

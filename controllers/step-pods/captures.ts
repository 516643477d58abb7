import { type Captured, createCapture } from '../../lib/capture/capture.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../lib/fair-pool.ts';
import type { KubeClient, Pod } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { stepContainer, stepState } from '../../lib/pod-slot.ts';
import { isConclusive, outcomeOfCapture, outcomeOfLoss } from './captured-outcome.ts';
import type { StepOutcome } from './step.ts';
import { stepPodLimits } from './limits.ts';
import { createLogMemory, type LogMemory, type LogRoom, noRoom } from './log-memory.ts';
import { createLogPatience } from './log-patience.ts';

interface CapturesDeps {
  readonly kube: Pick<KubeClient, 'readLog'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the outcome of a pod has become known. */
  readonly onKnown: (pod: Pod) => void;
  /** Ends everything that is under way. */
  readonly signal: AbortSignal;
  /** Shared by all that read logs. */
  readonly memory?: LogMemory;
}

/** Takes the output of steps from their logs (design §6). */
export interface Captures {
  /** The outcome where it is known. Asking reads nothing. */
  outcomeOf(pod: Pod): StepOutcome | undefined;
  /** Finds the outcome out, and calls `onKnown` then. Call it with each newer version of the pod. */
  follow(pod: Pod): void;
  /** Gives back the room of an output that cannot be stored now; its log is read again when it is followed. */
  giveBack(uid: string): void;
  /** Forgets a pod that no state waits for. */
  forget(uid: string): void;
}

/**
 * Follows the log of a young step, so that its trailer reports the outcome before the kubelet does. Follows that of a
 * step in deletion, because its node collects it within a minute. Reads the whole log of one that has ended. The
 * outcome is the same whichever way it came, for all read the same bytes.
 */
export function createCaptures(deps: CapturesDeps): Captures {
  return new LogCaptures(deps);
}

/** State of one pod. */
interface Entry {
  outcome?: StepOutcome;
  /** All of the output, while the pod's object has yet to say why the command ended. */
  captured?: Captured;
  /** The newest version of the pod that was asked for. */
  pod: Pod;
  /** A reader reads its log now. */
  busy: boolean;
  /** Whether its log was followed already: while it was young, and since its deletion. */
  followed: 'no' | 'young' | 'going';
  /** Room of its output, until it is forgotten. */
  room?: LogRoom;
  readonly stop: AbortController;
}

class LogCaptures implements Captures {
  readonly #deps: CapturesDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #streams: FairPool;
  readonly #reads: FairPool;
  readonly #memory: LogMemory;

  constructor(deps: CapturesDeps) {
    this.#deps = deps;
    this.#streams = createFairPool({ size: stepPodLimits.streamsMax, clock: deps.clock });
    this.#reads = createFairPool({ size: stepPodLimits.readsMax, clock: deps.clock });
    this.#memory = deps.memory ?? createLogMemory(deps.clock);
  }

  outcomeOf(pod: Pod): StepOutcome | undefined {
    const entry = this.#entries.get(pod.metadata.uid ?? '');
    if (entry !== undefined) this.#conclude(entry, pod);
    return entry?.outcome;
  }

  follow(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    const entry = this.#entries.get(uid) ?? { pod, stop: new AbortController(), busy: false, followed: 'no' };
    this.#entries.set(uid, entry);
    entry.pod = pod;
    this.#conclude(entry, pod);
    const { outcome, captured, busy } = entry;
    if (outcome === undefined && captured === undefined && !busy && !this.#isOver(entry)) this.#take(entry);
  }

  giveBack(uid: string): void {
    if (this.#entries.get(uid)?.outcome !== undefined) this.forget(uid);
  }

  forget(uid: string): void {
    const entry = this.#entries.get(uid);
    entry?.stop.abort();
    entry?.room?.leave();
    this.#entries.delete(uid);
  }

  /** The output is there, and the pod's object says why the command ended. */
  #conclude(entry: Entry, pod: Pod): void {
    const { captured, outcome } = entry;
    if (outcome !== undefined || captured === undefined || !isConclusive(captured.trailer, pod)) return;
    entry.outcome = outcomeOfCapture(captured, pod);
    delete entry.captured;
  }

  #take(entry: Entry): void {
    const state = stepState(entry.pod);
    if (state?.terminated !== undefined) void this.#read(entry);
    else if (state?.running !== undefined && isToFollow(entry)) this.#tryFollow(entry);
  }

  #tryFollow(entry: Entry): void {
    const place = this.#streams.tryEnter({ tenant: entry.pod.metadata.namespace ?? '' });
    const room = place && this.#memory.forFollowed(entry.pod);
    if (place === undefined || room === undefined) return place?.leave();
    void this.#follow(entry, place, room);
  }

  async #follow(entry: Entry, place: PoolPart, room: LogRoom): Promise<void> {
    entry.busy = true;
    entry.followed = entry.pod.metadata.deletionTimestamp === undefined ? 'young' : 'going';
    try {
      const signal = AbortSignal.any([this.#deps.signal, entry.stop.signal]);
      entry.captured = await readLog(this.#deps, entry.pod, { follow: true, signal, room });
      this.#hold(entry, room, entry.captured);
    } catch (error) {
      room.leave();
      this.#deps.logger.debug({ err: error, pod: entry.pod.metadata.name }, 'followed log brought no outcome');
    } finally {
      place.leave();
      entry.busy = false;
    }
    if (this.#isOver(entry)) return;
    this.#conclude(entry, entry.pod);
    if (entry.outcome !== undefined) this.#deps.onKnown(entry.pod);
    // The log ended without an outcome, and the container may have ended meanwhile.
    else if (entry.captured === undefined) this.#take(entry);
  }

  async #read(entry: Entry): Promise<void> {
    entry.busy = true;
    const signal = AbortSignal.any([this.#deps.signal, entry.stop.signal]);
    const patience = createLogPatience(this.#deps.clock);
    let reading = await this.#tryRead(entry, signal);
    while ('trouble' in reading && !this.#isOver(entry)) {
      const delayMs = patience.delayMs(reading.trouble, entry.pod);
      if (delayMs === undefined) break;
      await this.#deps.clock.sleep(delayMs, signal);
      reading = await this.#tryRead(entry, signal);
    }
    entry.busy = false;
    if (this.#isOver(entry)) return;
    if ('trouble' in reading) {
      this.#deps.logger.warn({ err: reading.trouble, pod: entry.pod.metadata.name }, 'output of a step is lost');
      this.#settle(entry, outcomeOfLoss(reading.trouble, entry.pod));
    } else this.#settle(entry, outcomeOfCapture(reading, entry.pod));
  }

  /** The output, or why it could not be read. */
  async #tryRead(entry: Entry, signal: AbortSignal): Promise<Captured | { readonly trouble: unknown }> {
    let room: LogRoom | undefined;
    try {
      const given = await this.#memory.forEnded(entry.pod, signal);
      room = given;
      const captured = await this.#reads.run({ tenant: entry.pod.metadata.namespace ?? '', signal }, () =>
        readLog(this.#deps, entry.pod, { follow: false, signal, room: given }),
      );
      this.#hold(entry, given, captured);
      return captured;
    } catch (error) {
      room?.leave();
      return { trouble: error };
    }
  }

  /** The output keeps its room until it is stored, which `forget` reports. */
  #hold(entry: Entry, room: LogRoom, captured: Captured): void {
    entry.room?.leave();
    if (entry.stop.signal.aborted) return room.leave();
    room.keep(captured);
    entry.room = room;
  }

  #settle(entry: Entry, outcome: StepOutcome): void {
    entry.outcome = outcome;
    this.#deps.onKnown(entry.pod);
  }

  #isOver(entry: Entry): boolean {
    return entry.stop.signal.aborted || this.#deps.signal.aborted;
  }
}

/** While it is young, and once more when it is in deletion. */
const isToFollow = ({ pod, followed }: Entry): boolean =>
  followed === 'no' || (followed === 'young' && pod.metadata.deletionTimestamp !== undefined);

type Reading = { readonly follow: boolean; readonly signal: AbortSignal; readonly room: LogRoom };

/** @throws CaptureError, or what reading the log throws. */
async function readLog(
  { kube, clock }: CapturesDeps,
  pod: Pod,
  { follow, signal: stop, room }: Reading,
): Promise<Captured> {
  const { name = '', namespace = '' } = pod.metadata;
  const enough = new AbortController();
  const signal = AbortSignal.any([stop, enough.signal]);
  void clock.sleep(stepPodLimits.readingMs, signal).then(() => enough.abort());
  const capture = createCapture();
  let bytes = 0;
  try {
    for await (const chunk of kube.readLog({ name, namespace }, { container: stepContainer, follow, signal })) {
      bytes += chunk.byteLength;
      if (!room.fits(bytes)) throw noRoom();
      capture.push(chunk);
      if (capture.isComplete()) break;
    }
    if (enough.signal.aborted) throw new AppError('timeout', 'reading the log got stuck', { reason: 'Stuck' });
    return capture.finish();
  } finally {
    enough.abort();
  }
}

import { LRUCache } from 'lru-cache';
import { annotations, labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { KeyValueBucket } from '../../lib/bus/event-bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { KeyReservation } from './reservation.ts';
import type { Hold, Reservations } from './reservations.ts';

/** A reservation whose execution exists and which does not say so yet. */
interface Unsettled {
  readonly key: string;
  readonly stimulusId: string;
  readonly executionId: string;
  /** Where it is known: without it, the reservation is read first. */
  readonly hold?: Hold;
  /** Called when the note has been tried for the first time. */
  readonly tried?: () => void;
}

/** Notes in reservations that their executions exist, sooner or later. Notes that come together share a write. */
export interface Settler {
  /** Resolves when it is noted. Where the store is away, that is left for later: the execution runs. Never rejects. */
  settle(hold: Hold, executionId: string): Promise<void>;
  /**
   * Takes up the executions that a replica created shortly before it died: without a note in its reservation a
   * duplicate would run again once the execution is deleted.
   */
  resume(executions: Iterable<WorkflowExecution>): void;
  /** Works until `signal` aborts, then finishes what is left while the store takes it. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface SettlerDeps {
  readonly bucket: Pick<KeyValueBucket<KeyReservation>, 'get'>;
  readonly reservations: Pick<Reservations, 'settle'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest queue: beyond it the oldest are dropped, which the next duplicate makes up for. */
const waitingMax = 100_000;
/** Notes under way at once. */
const batchSize = 64;
/** Before a store that is away is tried again. */
const pauseMs = 1_000;
/** Time limit of the last notes of a process. */
const lastMs = 1_000;
/** A replica that died is started again within this time. */
const resumeWithinMs = 15 * 60_000;

export function createSettler(deps: SettlerDeps): Settler {
  return new QueueSettler(deps);
}

class QueueSettler implements Settler {
  readonly #deps: SettlerDeps;
  readonly #waiting = new LRUCache<string, Unsettled>({ maxSize: waitingMax, sizeCalculation: () => 1 });
  #isFailing = false;
  #wake: () => void = () => undefined;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  settle(hold: Hold, executionId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#add({ key: hold.key, stimulusId: hold.stimulusId, executionId, hold, tried: resolve });
    return promise;
  }

  resume(executions: Iterable<WorkflowExecution>): void {
    const since = this.#deps.clock.now() - resumeWithinMs;
    for (const { metadata } of executions) {
      const key = metadata.annotations?.[annotations.reservation];
      const stimulusId = metadata.labels?.[labels.stimulus];
      if (key === undefined || stimulusId === undefined) continue;
      if (Date.parse(metadata.creationTimestamp ?? '') < since) continue;
      this.#add({ key, stimulusId, executionId: metadata.uid ?? '' });
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      if (this.#waiting.size === 0) await this.#added(signal);
      if (!(await this.#settleBatch())) await clock.sleep(pauseMs, signal);
    }
    const end = clock.steadyMs() + lastMs;
    while (this.#waiting.size > 0 && clock.steadyMs() < end && (await this.#settleBatch()));
  }

  /** Resolves when there is something to do, or `signal` aborts. */
  #added(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #add(unsettled: Unsettled): void {
    this.#waiting.set(unsettled.key, unsettled);
    this.#wake();
  }

  /** Whether the store has taken those that are first in line. */
  async #settleBatch(): Promise<boolean> {
    const batch = [...this.#waiting.rvalues().take(batchSize)].filter((unsettled) => unsettled !== undefined);
    const done = await Promise.all(batch.map((unsettled) => this.#isSettled(unsettled)));
    return done.every(Boolean);
  }

  async #isSettled(unsettled: Unsettled): Promise<boolean> {
    const { reservations } = this.#deps;
    const { key, executionId, tried } = unsettled;
    try {
      const hold = unsettled.hold ?? (await this.#holdOf(unsettled));
      if (hold !== undefined) await reservations.settle(hold, executionId);
    } catch (error) {
      this.#tellFailure(error);
      return false;
    } finally {
      tried?.();
    }
    this.#isFailing = false;
    // Another replica may have taken the key over meanwhile.
    if (this.#waiting.peek(key) === unsettled) this.#waiting.delete(key);
    return true;
  }

  /** Once for each outage: what waits is tried again every second. */
  #tellFailure(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const fields = { problem: messageOf(error), waiting: this.#waiting.size };
    this.#deps.logger.warn(fields, 'reservations not settled yet');
  }

  /** The hold of the execution's maker; a reservation of another stimulus, or one that is gone, is none of its. */
  async #holdOf({ key, stimulusId }: Unsettled): Promise<Hold | undefined> {
    const entry = await this.#deps.bucket.get(key);
    if (entry?.value.state !== 'reserved' || entry.value.stimulus_id !== stimulusId) return undefined;
    return { key, stimulusId, at: entry.value.at, revision: entry.revision };
  }
}

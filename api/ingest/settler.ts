import { annotations, labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { KeyValueBucket } from '../../lib/bus/event-bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Reservation } from './reservation.ts';
import type { Hold, Reservations } from './reservations.ts';

/** A reservation whose execution exists and which does not say so yet. */
interface Unsettled {
  readonly key: string;
  readonly stimulusId: string;
  readonly executionId: string;
}

/** Notes in reservations that their executions exist, sooner or later. */
export interface Settler {
  /** Notes it now; where the store is away, as soon as it is back. Never throws: the execution runs in any case. */
  settle(hold: Hold, executionId: string): Promise<void>;
  /** Works off what is left until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Takes up the executions that a replica created shortly before it died: without a note in its reservation a
   * duplicate would run again once the execution is deleted.
   */
  resume(executions: Iterable<WorkflowExecution>): void;
}

interface SettlerDeps {
  readonly bucket: KeyValueBucket<Reservation>;
  readonly reservations: Pick<Reservations, 'settle'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What may wait at most: beyond it the oldest are forgotten, which the next duplicate makes up for. */
const waitingMax = 100_000;
const pauseMs = 1_000;
/** A replica that died is started again within this time. */
const resumeWithinMs = 15 * 60_000;

export function createSettler(deps: SettlerDeps): Settler {
  return new QueueSettler(deps);
}

class QueueSettler implements Settler {
  readonly #deps: SettlerDeps;
  readonly #waiting = new BoundedMap<string, Unsettled>(waitingMax);
  #wake: () => void = () => undefined;

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  async settle(hold: Hold, executionId: string): Promise<void> {
    const { key, stimulusId } = hold;
    try {
      await this.#deps.reservations.settle(hold, executionId);
    } catch (error) {
      this.#deps.logger.warn({ stimulusId, problem: messageOf(error) }, 'reservation not settled yet');
      this.#add({ key, stimulusId, executionId });
    }
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
    while (!signal.aborted) {
      await this.#workOff(signal);
      if (this.#waiting.size === 0) await this.#added(signal);
      else await this.#deps.clock.sleep(pauseMs, signal);
    }
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

  /** Until the queue is empty, or the store is away. */
  async #workOff(signal: AbortSignal): Promise<void> {
    for (const [key, unsettled] of this.#waiting) {
      if (signal.aborted) return;
      try {
        await this.#settle(unsettled);
      } catch (error) {
        this.#deps.logger.debug({ problem: messageOf(error), waiting: this.#waiting.size }, 'reservations not settled');
        return;
      }
      this.#waiting.delete(key);
    }
  }

  /** A reservation of another stimulus, or one that is gone, has nothing to do with this execution. */
  async #settle({ key, stimulusId, executionId }: Unsettled): Promise<void> {
    const entry = await this.#deps.bucket.get(key);
    if (entry?.value.state !== 'reserved' || entry.value.stimulus_id !== stimulusId) return;
    const routed = { ...entry.value, state: 'routed', workflow_execution_id: executionId } as const;
    await this.#deps.bucket.update(key, routed, entry.revision);
  }
}

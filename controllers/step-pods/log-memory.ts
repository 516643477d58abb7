import { limits } from '../../crds/limits.ts';
import type { CapturedStreams } from '../../lib/capture/captured-streams.ts';
import { parseTerminationMessage } from '../../lib/capture/parse-trailer.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../lib/fair-pool.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import { stepPodLimits } from './limits.ts';

/**
 * Memory for logs that are read and for outputs that are not stored yet, of all pods together. Namespaces share it
 * (design §11). So neither thousands of pods that end at once, nor outputs that wait for a store that is away, fill the
 * process or keep another tenant's step waiting.
 */
export interface LogMemory {
  /** Room for the log of a pod that has ended, in turn. Rejects with the signal's reason. */
  forEnded(pod: Pod, signal: AbortSignal): Promise<LogRoom>;
  /** Room for the beginning of a log that is followed; undefined where there is none now. */
  forFollowed(pod: Pod): LogRoom | undefined;
}

/** Limit of one pod's output. */
export interface LogRoom {
  /** Whether so many bytes of log fit; takes more room where they do not, if there is some. */
  fits(logBytes: number): boolean;
  /** The output is known: from now on it takes no more than that. */
  keep(output: CapturedStreams): void;
  leave(): void;
}

/** An output is held three times for a moment: its bytes, their growing collection and its text. */
const copies = 3;
const { roomBytes } = stepPodLimits;
const roomOf = (outputBytes: number): number => roomBytes + copies * outputBytes;
/** Size of an outcome without output. */
const leastBytes = 1_024;
const largest = roomOf(2 * limits.outputStreamBytes);

export function createLogMemory(clock: Clock, size: number = stepPodLimits.logMemoryBytes): LogMemory {
  const pool = createFairPool({ size, clock });
  return {
    async forEnded(pod, signal) {
      const tenant = pod.metadata.namespace ?? '';
      const cost = roomOf(outputBytes(pod));
      return new PooledRoom(pool, tenant, { cost, place: await pool.enter({ tenant, cost, signal }) });
    },
    forFollowed(pod) {
      const tenant = pod.metadata.namespace ?? '';
      const place = pool.tryEnter({ tenant, cost: roomBytes });
      return place && new PooledRoom(pool, tenant, { cost: roomBytes, place });
    },
  };
}

interface Held {
  readonly cost: number;
  readonly place: PoolPart;
}

class PooledRoom implements LogRoom {
  readonly #pool: FairPool;
  readonly #tenant: string;
  readonly #held: Held[];

  constructor(pool: FairPool, tenant: string, held: Held) {
    this.#pool = pool;
    this.#tenant = tenant;
    this.#held = [held];
  }

  fits(logBytes: number): boolean {
    const cost = this.#held.reduce((sum, held) => sum + held.cost, 0);
    if (logBytes <= cost || cost >= largest) return true;
    const place = this.#pool.tryEnter({ tenant: this.#tenant, cost: largest - cost });
    if (place !== undefined) this.#held.push({ cost: largest - cost, place });
    return place !== undefined;
  }

  keep({ stdout, stderr }: CapturedStreams): void {
    let rest = Math.max(leastBytes, copies * (stdout.byteLength + stderr.byteLength));
    for (const { cost, place } of this.#held) {
      place.shrinkTo(rest);
      rest = Math.max(0, rest - cost);
    }
  }

  leave(): void {
    for (const { place } of this.#held.splice(0)) place.leave();
  }
}

/** As the runner says it in the termination message; as much as there may be where it says nothing. */
function outputBytes(pod: Pod): number {
  const most = 2 * limits.outputStreamBytes;
  try {
    const { stdout, stderr } = parseTerminationMessage(stepState(pod)?.terminated?.message ?? '');
    return Math.min(most, stdout.bytes + stderr.bytes);
  } catch {
    return most;
  }
}

/** There is no room for the rest of a log now; it is read again later. */
export const noRoom = (): AppError =>
  new AppError('unavailable', 'too much output waits to be stored', { reason: 'Overloaded' });

import type { Clock } from '../clock.ts';

/** Signs of life of one thread's event loop, which another thread can see while the loop is busy. */
interface Heartbeat {
  beat(): void;
  /** Milliseconds since the last beat, or since the heartbeat was made. */
  silentMs(): number;
}

/** How long an event loop may take for one turn before its process counts as stuck, in milliseconds (design §11). */
export const silentMostMs = 15_000;
/** Between two beats. */
const beatEveryMs = 1_000;

const bytes = BigInt64Array.BYTES_PER_ELEMENT;

/** Memory for one heartbeat, to be given to both threads. */
export const heartbeatMemory = (): SharedArrayBuffer => new SharedArrayBuffer(bytes);

export function createHeartbeat(memory: SharedArrayBuffer, clock: Pick<Clock, 'steadyMs'>): Heartbeat {
  const cell = new BigInt64Array(memory);
  const now = (): bigint => BigInt(Math.floor(clock.steadyMs()));
  Atomics.compareExchange(cell, 0, 0n, now());
  return {
    beat: () => void Atomics.store(cell, 0, now()),
    silentMs: () => Number(now() - Atomics.load(cell, 0)),
  };
}

/** Beats each time a timer of this thread's loop fires, until `signal` aborts. */
export async function keepBeating(heartbeat: Heartbeat, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    heartbeat.beat();
    await clock.sleep(beatEveryMs, signal);
  }
}

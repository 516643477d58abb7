import { hrtime } from 'node:process';

/** Time as a dependency: everything but this file, and `client/`, which imports nothing of ours, receives a Clock. */
export interface Clock {
  /**
   * Milliseconds since the Unix epoch, for points in time that are stored or shown, or that another machine names. An
   * operator or NTP may set it back: a wait that it measures lasts for as long as it was set back.
   */
  now(): number;
  /**
   * Milliseconds that never step, since a moment that says nothing: for how long something takes, waits or counts. They are the
   * same in all threads of a process, run on while it is stopped, and stop while the machine sleeps.
   */
  steadyMs(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steadyMs: () => Number(hrtime.bigint()) / 1_000_000,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
      function done(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
    }),
};

/**
 * Sleeps for the time that an answer has. A process that was busy is late by as long as it could hear nothing. The
 * answer may be in its socket already, and gets as much time again, `ms` at most.
 */
export async function sleepAwake(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const end = clock.steadyMs() + ms;
  await clock.sleep(ms, signal);
  const lateMs = Math.min(clock.steadyMs() - end, ms);
  if (lateMs > 0 && signal?.aborted !== true) await clock.sleep(lateMs, signal);
}

/** The result of the work; undefined where it takes longer than `ms` milliseconds. Rejects as the work does. */
export async function resultWithin<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, over.signal).then(() => undefined)]);
  } finally {
    over.abort('over');
  }
}

/**
 * Runs the task after `ms` milliseconds, unless the returned function calls it off before. On the machine's own clock that
 * is a timer alone: a sleep has a promise, a signal and a listener beside it, and a signed call has three deadlines.
 */
export function runAfter(clock: Clock, ms: number, task: () => void): () => void {
  if (clock.sleep === systemClock.sleep) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  }
  const off = new AbortController();
  void clock.sleep(ms, off.signal).then(() => {
    if (!off.signal.aborted) task();
  });
  // A reason spares the making of an error with its stack.
  return () => off.abort('called off');
}

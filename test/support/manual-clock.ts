import type { Clock } from '../../lib/clock.ts';

/** A clock for tests: time stops until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves time forward, ending each sleep at its own moment and in order, and lets everything that follows from it
   * run before the next.
   */
  advance(ms: number): Promise<void>;
  /** Sets the time of day forward, or back; sleeps and the steady clock know nothing of it. */
  step(ms: number): void;
  /** Sleeps under way. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** `start` is in milliseconds since the Unix epoch. */
export function createManualClock(start = Date.parse('2026-01-01T00:00:00Z')): ManualClock {
  let steady = 50_000;
  let epoch = start - steady;
  const sleepers = new Set<Sleeper>();

  function next(limit: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.until <= limit && (first === undefined || sleeper.until < first.until)) first = sleeper;
    }
    return first;
  }

  return {
    now: () => epoch + steady,
    steadyMs: () => steady,
    step: (ms) => void (epoch += ms),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal?.aborted) return resolve();
        const sleeper = { until: steady + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
        function wake(): void {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        }
      }),
    async advance(ms) {
      const end = steady + ms;
      await settle();
      for (let sleeper = next(end); sleeper !== undefined; sleeper = next(end)) {
        steady = Math.max(steady, sleeper.until);
        sleeper.wake();
        await settle();
      }
      steady = end;
      await settle();
    },
    get sleepers() {
      return sleepers.size;
    },
  };
}

/** Enough turns for chains of promises that need no input or output. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

import type { Clock } from './clock.ts';

/** Wakes one waiter. A ring before the wait counts, and several rings are as one. */
interface Bell {
  readonly ring: () => void;
  /** Resolves after a ring, after `ms` milliseconds, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createBell(clock: Pick<Clock, 'sleep'>): Bell {
  let isRung = false;
  let wake = (): void => undefined;
  return {
    ring() {
      isRung = true;
      wake();
    },
    async wait(ms, signal) {
      if (!isRung) {
        const over = new AbortController();
        wake = () => over.abort('rung');
        await clock.sleep(ms, AbortSignal.any([signal, over.signal]));
        wake = () => undefined;
      }
      isRung = false;
    },
  };
}

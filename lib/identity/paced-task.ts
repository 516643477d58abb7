import type { Clock } from '../clock.ts';

/** A task that many ask for and that runs once for all of them, never twice at a time nor twice within an interval. */
export interface PacedTask {
  /** The run under way, else a new one. */
  join(): Promise<void>;
  /** A run that begins after this call: what it finds out is newer than whatever the caller has seen. */
  next(): Promise<void>;
  readonly running: Promise<void> | undefined;
}

/** `task` must not reject. */
export function createPacedTask(clock: Clock, intervalMs: number, task: () => Promise<void>): PacedTask {
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let lastStart = Number.NEGATIVE_INFINITY;

  async function inTurn(): Promise<void> {
    await running;
    const pauseMs = lastStart + intervalMs - clock.now();
    if (pauseMs > 0) await clock.sleep(pauseMs);
    queued = undefined;
    lastStart = clock.now();
    running = task().finally(() => {
      running = undefined;
    });
    await running;
  }

  const next = (): Promise<void> => {
    queued ??= inTurn();
    return queued;
  };
  return {
    next,
    join: () => running ?? next(),
    get running() {
      return running;
    },
  };
}

import type { Clock } from './clock.ts';

/** A task that many ask for and that runs once for all of them, never twice at a time, and not too often. */
export interface PacedTask {
  /** The run under way, else a new one. */
  join(): Promise<void>;
  /** A run that begins after this call: what it finds out is newer than whatever the caller has seen. */
  next(): Promise<void>;
  readonly running: Promise<void> | undefined;
}

/**
 * `pauseMs` says how long to rest after a run, by how long it took. A run that fails does so for all who asked for it.
 */
export function createPacedTask(
  clock: Clock,
  pauseMs: (tookMs: number) => number,
  task: () => Promise<void>,
): PacedTask {
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;

  async function run(): Promise<void> {
    const begun = clock.steadyMs();
    try {
      await task();
    } finally {
      const ended = clock.steadyMs();
      notBefore = ended + pauseMs(ended - begun);
      running = undefined;
    }
  }

  async function inTurn(): Promise<void> {
    await running?.catch(() => undefined);
    const restMs = notBefore - clock.steadyMs();
    if (restMs > 0) await clock.sleep(restMs);
    // A later caller may want changes that this run no longer sees.
    queued = undefined;
    running = run();
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

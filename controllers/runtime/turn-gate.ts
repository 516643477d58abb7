import { createFifo } from './fifo.ts';

/**
 * Lets through one caller in each turn of the event loop, first come, first served. What is bounded in a turn then stays so
 * when many workers have something to do at once: promises alone would run them all in one turn, and nothing else would be
 * served meanwhile, neither the Lease nor a probe.
 */
export interface TurnGate {
  /** Resolves in a turn of the caller's own. */
  enter(): Promise<void>;
}

/** `defer` runs a function in a later turn of the event loop. */
export function createTurnGate(defer: (run: () => void) => void = setImmediate): TurnGate {
  const waiting = createFifo<() => void>();
  let isScheduled = false;
  const next = (): void => {
    waiting.shift()?.();
    isScheduled = waiting.first !== undefined;
    if (isScheduled) defer(next);
  };
  return {
    enter: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (isScheduled) return;
        isScheduled = true;
        defer(next);
      }),
  };
}

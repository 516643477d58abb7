import { createFifo, type Fifo } from './fifo.ts';

/**
 * Lets through one caller in each turn of the event loop: tenants take turns, and within a tenant the first comes first.
 * The work of a turn then stays bounded when many workers have something to do at once: promises alone would run them
 * all in one turn, and nothing else would be served meanwhile, neither the Lease nor a probe. One tenant with many waiting
 * delays another's caller by one turn.
 */
export interface TurnGate {
  /** Resolves in a turn of the caller's own. `tenant` is the namespace that the work is for. */
  enter(tenant: string): Promise<void>;
}

/** `defer` runs a function in a later turn of the event loop. */
export function createTurnGate(defer: (run: () => void) => void = setImmediate): TurnGate {
  /** Only those in which one waits, the one whose turn it is first. */
  const lanes = new Map<string, Fifo<() => void>>();
  let isScheduled = false;
  const next = (): void => {
    const [first] = lanes;
    if (first !== undefined) {
      const [tenant, lane] = first;
      lane.shift()?.();
      lanes.delete(tenant);
      if (lane.first !== undefined) lanes.set(tenant, lane);
    }
    isScheduled = lanes.size > 0;
    if (isScheduled) defer(next);
  };
  return {
    enter: (tenant) =>
      new Promise((resolve) => {
        const lane = lanes.get(tenant) ?? createFifo();
        lanes.set(tenant, lane);
        lane.push(resolve);
        if (isScheduled) return;
        isScheduled = true;
        defer(next);
      }),
  };
}

import { createFifo, type Fifo } from './fifo.ts';

/**
 * Lets through one caller in each turn of the event loop: tenants take turns, and within a tenant the first comes
 * first. The work of a turn then stays bounded when many workers have something to do at once. Promises alone would run
 * them all in one turn. Nothing else would be served meanwhile, neither the Lease nor a probe. One tenant with many
 * waiting delays another's caller by one turn.
 */
export interface TurnGate {
  /** Resolves in a turn of the caller's own. `tenant` is the namespace that the work is for. */
  enter(tenant: string): Promise<void>;
}

/** `defer` runs a function in a later turn of the event loop. */
export function createTurnGate(defer: (run: () => void) => void = setImmediate): TurnGate {
  /** Only those in which one waits, the one whose turn it is first. */
  const queues = new Map<string, Fifo<() => void>>();
  let isScheduled = false;
  const next = (): void => {
    const [first] = queues;
    if (first !== undefined) {
      const [tenant, queue] = first;
      queue.shift()?.();
      queues.delete(tenant);
      if (queue.first !== undefined) queues.set(tenant, queue);
    }
    isScheduled = queues.size > 0;
    if (isScheduled) defer(next);
  };
  return {
    enter: (tenant) =>
      new Promise((resolve) => {
        const queue = queues.get(tenant) ?? createFifo();
        queues.set(tenant, queue);
        queue.push(resolve);
        if (isScheduled) return;
        isScheduled = true;
        defer(next);
      }),
  };
}

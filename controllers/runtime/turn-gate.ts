import { createFifo, type Fifo } from './fifo.ts';

/**
 * Lets through one caller in each turn of the event loop. The work of a turn then stays bounded when many workers have something to
 * do at once. Promises alone would run them all in one turn. Nothing else would be served meanwhile, neither the Lease nor a probe.
 *
 * The next turn is for the tenant that has had the least time of the processor, and within a tenant the first comes first. So a tenant
 * whose turns are short waits for one turn of another tenant, however long that is, and then has several of its own (ADR 0180).
 */
export interface TurnGate {
  /** Resolves in a turn of the caller's own. `tenant` is the namespace that the work is for. */
  enter(tenant: string): Promise<void>;
}

interface TurnGateDeps {
  /** Runs a function in a later turn of the event loop. Default `setImmediate`. */
  readonly defer?: (run: () => void) => void;
  /** Milliseconds of CPU that this thread has used. */
  readonly usedMs?: () => number;
}

interface Waiting {
  readonly callers: Fifo<() => void>;
  /** The time of the processor that the tenant has had, where all that wait began together. */
  due: number;
}

/** Milliseconds that a turn counts as at least: those of equal tenants go round. */
const leastMs = 0.05;

export function createTurnGate({ defer = setImmediate, usedMs = threadMs }: TurnGateDeps = {}): TurnGate {
  return new CpuGate(defer, usedMs);
}

class CpuGate implements TurnGate {
  readonly #defer: (run: () => void) => void;
  readonly #usedMs: () => number;
  /** Tenants with callers that wait, or whose last turn put them behind the others. */
  readonly #tenants = new Map<string, Waiting>();
  /** The `due` of the turn that was given last: one that comes anew has had as much. */
  #now = 0;
  #isScheduled = false;

  constructor(defer: (run: () => void) => void, usedMs: () => number) {
    this.#defer = defer;
    this.#usedMs = usedMs;
  }

  enter(tenant: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#tenants.get(tenant) ?? { callers: createFifo(), due: 0 };
      if (waiting.callers.first === undefined) {
        waiting.due = Math.max(waiting.due, this.#now);
        // Behind those that wait with as much.
        this.#tenants.delete(tenant);
        this.#tenants.set(tenant, waiting);
      }
      waiting.callers.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#defer(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    const next = this.#least();
    if (next === undefined) return this.#rest();
    const [tenant, waiting] = next;
    this.#now = waiting.due;
    this.#tenants.delete(tenant);
    this.#tenants.set(tenant, waiting);
    const began = this.#usedMs();
    waiting.callers.shift()?.();
    // Its caller runs in microtasks, which have ended where the next tick begins.
    queueMicrotask(() => process.nextTick(() => (waiting.due += Math.max(leastMs, this.#usedMs() - began))));
    this.#schedule();
  }

  #least(): readonly [string, Waiting] | undefined {
    let least: readonly [string, Waiting] | undefined;
    for (const entry of this.#tenants) {
      const [tenant, { callers, due }] = entry;
      const waits = callers.first !== undefined;
      if (waits && due < (least?.[1].due ?? Number.POSITIVE_INFINITY)) least = entry;
      // The others have caught up with it.
      if (!waits && due <= this.#now) this.#tenants.delete(tenant);
    }
    return least;
  }

  /** None waits: all begin together the next time. */
  #rest(): void {
    this.#tenants.clear();
    this.#now = 0;
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

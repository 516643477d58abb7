import type { Clock } from '../../lib/clock.ts';
import type { HostStore, StoredHost } from '../hosts/host-store.ts';

/** The turn to look a host up, and to write it. Disposed of when its work is done. */
interface LookUpTurn extends Disposable {
  /** As the server had it after the turn was asked for; undefined where it has not been asked. */
  readonly host: StoredHost | undefined;
}

/**
 * Look-ups of hosts whose streams have begun, in turns within each tenant: ten thousand that wait cost an entry of a list each,
 * and neither a timer nor a signal.
 */
export interface LookUps {
  /** First come, first served. `hurry` gives the turn at once. */
  enter(tenant: string, nodeId: string): { readonly turn: Promise<LookUpTurn>; readonly hurry: () => void };
}

interface LookUpDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly hosts: Pick<HostStore, 'pagesOf'>;
}

/** Hosts of a tenant that wait so that a list of all of its hosts takes less than a call for each of them. */
const listFrom = 128;
/** A listed host takes the server and the relay so many times less than one that is asked for. */
const listIsCheaper = 16;
/** So long more hosts are waited for before a list: those of a fleet that comes back begin within a minute. */
const gatherMs = 5_000;

interface Waiter {
  readonly nodeId: string;
  readonly begin: (turn: LookUpTurn) => void;
}

/** One tenant's. */
interface Line {
  readonly tenant: string;
  running: number;
  /** In the order in which they came. */
  readonly waiting: Set<Waiter>;
  /** Those of the waiting ones that come next, with their hosts where the list had them. */
  readonly ready: Map<Waiter, StoredHost | undefined>;
  isListing: boolean;
  /** Called when none is ready any more. */
  onTaken: (() => void) | undefined;
}

/** `most`: turns of one tenant at once, beside those that were hurried. */
export const createLookUps = (deps: LookUpDeps, most: number): LookUps => new TenantLookUps(deps, most);

class TenantLookUps implements LookUps {
  readonly #deps: LookUpDeps;
  readonly #most: number;
  readonly #lines = new Map<string, Line>();
  /** Hosts of each tenant at its last list. */
  readonly #sizes = new Map<string, number>();

  constructor(deps: LookUpDeps, most: number) {
    this.#deps = deps;
    this.#most = most;
  }

  enter(tenant: string, nodeId: string): ReturnType<LookUps['enter']> {
    const line = this.#lineOf(tenant);
    const { promise, resolve } = Promise.withResolvers<LookUpTurn>();
    const waiter: Waiter = { nodeId, begin: resolve };
    line.waiting.add(waiter);
    this.#serve(line);
    return { turn: promise, hurry: () => this.#begin(line, waiter) };
  }

  #lineOf(tenant: string): Line {
    const known = this.#lines.get(tenant);
    if (known !== undefined) return known;
    const line: Line = {
      tenant,
      running: 0,
      waiting: new Set(),
      ready: new Map(),
      isListing: false,
      onTaken: undefined,
    };
    this.#lines.set(tenant, line);
    return line;
  }

  #begin(line: Line, waiter: Waiter): void {
    if (!line.waiting.delete(waiter)) return;
    const host = line.ready.get(waiter);
    line.ready.delete(waiter);
    line.running += 1;
    waiter.begin({ host, [Symbol.dispose]: () => this.#leave(line) });
  }

  #leave(line: Line): void {
    line.running -= 1;
    this.#serve(line);
  }

  #serve(line: Line): void {
    while (line.running < this.#most) {
      const next = this.#next(line);
      if (next === undefined) break;
      this.#begin(line, next);
    }
    if (line.ready.size === 0) line.onTaken?.();
    if (line.running === 0 && line.waiting.size === 0 && !line.isListing) this.#lines.delete(line.tenant);
  }

  #next(line: Line): Waiter | undefined {
    const [ready] = line.ready.keys();
    if (ready !== undefined || line.isListing) return ready;
    if (line.waiting.size < Math.max(listFrom, (this.#sizes.get(line.tenant) ?? 0) / listIsCheaper)) {
      const [first] = line.waiting;
      return first;
    }
    void this.#list(line);
    return undefined;
  }

  /** Never rejects: a host that the list did not show is asked for by itself. */
  async #list(line: Line): Promise<void> {
    line.isListing = true;
    await this.#deps.clock.sleep(gatherMs);
    const asked = [...line.waiting];
    await this.#showListed(line, asked).catch(() => undefined);
    for (const waiter of asked) if (line.waiting.has(waiter)) line.ready.set(waiter, undefined);
    line.isListing = false;
    this.#serve(line);
  }

  /** One page at a time, so that no more hosts are in memory. */
  async #showListed(line: Line, asked: readonly Waiter[]): Promise<void> {
    const byNode = Map.groupBy(asked, ({ nodeId }) => nodeId);
    let size = 0;
    for await (const page of this.#deps.hosts.pagesOf(line.tenant)) {
      size += page.length;
      for (const host of page) {
        const waiters = byNode.get(host.object.status?.node_id ?? '') ?? [];
        for (const waiter of waiters.filter((one) => line.waiting.has(one))) line.ready.set(waiter, host);
      }
      await this.#taken(line);
    }
    this.#sizes.set(line.tenant, size);
  }

  async #taken(line: Line): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    line.onTaken = resolve;
    this.#serve(line);
    await promise;
    line.onTaken = undefined;
  }
}

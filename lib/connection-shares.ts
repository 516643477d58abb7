import type { Clock } from './clock.ts';
import { createFairPool, type FairPool, type PoolPart } from './fair-pool.ts';
import { networkOf } from './network-of.ts';

/** A connection as its account sees it. */
export interface CountedConnection {
  /** When its last request ended, or it began, by the steady clock; undefined while a request is under way. */
  idleSince(): number | undefined;
  /** Ends it, and gives its place back at once. */
  close(): void;
}

interface ConnectionSharesOptions {
  readonly clock: Clock;
  /** Connections that are served at a time. */
  readonly places: number;
  /** Connections that may wait for a place. Default: none. */
  readonly waiting?: number;
  /** How long one waits at most. */
  readonly waitMs?: number;
  /** A connection that has been idle for this long makes room for another one. Default: `spareMs`. */
  readonly spareMs?: number;
}

/** A connection between two requests, or within its handshake, needs a moment. */
const spareMs = 5_000;
/** How often the idle ones are looked through where others wait. */
const lookMs = 250;

/**
 * Connections of a port, in accounts by network (`networkOf`): one network never takes all places. Where there is no place, the
 * account that has most gives up the one of its idle connections that is oldest.
 */
export class ConnectionShares {
  readonly #clock: Clock;
  readonly #places: number;
  readonly #spareMs: number;
  readonly #pool: FairPool;
  readonly #accounts = new Map<string, Set<CountedConnection>>();
  /** Networks whose connections wait, and how many. */
  readonly #waiting = new Map<string, number>();
  #isLooking = false;

  constructor(options: ConnectionSharesOptions) {
    const { clock, places, waiting = 0, waitMs = 0 } = options;
    this.#clock = clock;
    this.#places = places;
    this.#spareMs = options.spareMs ?? spareMs;
    this.#pool = createFairPool({ size: places, waiting, clock, waitMs });
  }

  /** Connections that have a place. */
  get used(): number {
    return this.#pool.used;
  }

  /** Takes a place now, and answers how it is given back; undefined where there is none. */
  tryEnter(address: string, connection: CountedConnection): (() => void) | undefined {
    const network = networkOf(address);
    const request = { tenant: network };
    let part = this.#pool.tryEnter(request);
    if (part === undefined && this.#makeRoom(network)) part = this.#pool.tryEnter(request);
    return part === undefined ? undefined : this.#count(network, connection, part);
  }

  /** The same, in its turn. Rejects where too many wait, the wait is over, or `signal` aborts. */
  async enter(address: string, connection: CountedConnection, signal: AbortSignal): Promise<() => void> {
    const network = networkOf(address);
    this.#waiting.set(network, (this.#waiting.get(network) ?? 0) + 1);
    if (!this.#isLooking) void this.#look();
    try {
      const part = await this.#pool.enter({ tenant: network, signal });
      return this.#count(network, connection, part);
    } finally {
      const left = (this.#waiting.get(network) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(network);
      else this.#waiting.set(network, left);
    }
  }

  #count(network: string, connection: CountedConnection, part: PoolPart): () => void {
    const account = this.#accounts.get(network) ?? new Set<CountedConnection>();
    this.#accounts.set(network, account);
    account.add(connection);
    return () => {
      account.delete(connection);
      if (account.size === 0 && this.#accounts.get(network) === account) this.#accounts.delete(network);
      part.leave();
    };
  }

  /** Connections become idle while others wait. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.size > 0) {
      for (const [network, count] of this.#waiting)
        for (let made = 0; made < count && this.#makeRoom(network); made += 1);
      await this.#clock.sleep(lookMs);
    }
    this.#isLooking = false;
  }

  /** Ends an idle connection: of the network itself where that has its share, else of the one that has most. */
  #makeRoom(network: string): boolean {
    const account = this.#pool.used < this.#places ? this.#accounts.get(network) : this.#fullest();
    const latest = this.#clock.steadyMs() - this.#spareMs;
    for (const connection of account ?? []) {
      const since = connection.idleSince();
      if (since === undefined || since > latest) continue;
      connection.close();
      return true;
    }
    return false;
  }

  #fullest(): ReadonlySet<CountedConnection> | undefined {
    let fullest: ReadonlySet<CountedConnection> | undefined;
    for (const account of this.#accounts.values()) if (account.size > (fullest?.size ?? 0)) fullest = account;
    return fullest;
  }
}

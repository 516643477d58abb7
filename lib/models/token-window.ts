import type { Clock } from '../clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';
import { modelLimits } from './limits.ts';

/** Tokens that a request may use, until it is known how many it used. Left alone, its end gives them back. */
export interface TokenReservation extends Disposable {
  /** The request was sent at that time and used so many, which count until a minute is over. */
  settle(tokens: number, sentAt: number): void;
}

interface Wanted {
  readonly tenant: string;
  readonly tokens: number;
  readonly signal: AbortSignal;
  /** Longest wait for the turn. */
  readonly waitMs?: number;
}

/** The tokens that one process asks of one provider within a minute, in turns of tenants. */
export interface TokenWindow {
  /** Waits for its turn. Rejects as `FairPool.enter` does. A request of more than a minute's tokens takes all of them. */
  reserve(wanted: Wanted): Promise<TokenReservation>;
  /** Tokens that count just now. */
  readonly counted: number;
}

const minuteMs = 60_000;

export function createTokenWindow(clock: Clock, perMinute: number): TokenWindow {
  return new SharedWindow(clock, perMinute);
}

interface Spent {
  readonly place: PoolPart;
  readonly until: number;
}

/**
 * A fair pool whose places are tokens: those of a request stay taken until a minute after it was sent. Time is watched only
 * while requests wait, so that nothing keeps a process from its end.
 */
class SharedWindow implements TokenWindow {
  readonly #clock: Clock;
  readonly #pool: FairPool;
  readonly #spent = new Set<Spent>();
  #news = new AbortController();
  #isWatched = false;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    const { waiting, turnMs: waitMs } = modelLimits;
    this.#pool = createFairPool({ size: perMinute, waiting, waitMs, clock, isReturned: true });
  }

  get counted(): number {
    this.#giveBack();
    return this.#pool.used;
  }

  async reserve({ tokens, ...entry }: Wanted): Promise<TokenReservation> {
    this.#giveBack();
    const entered = this.#pool.enter({ ...entry, cost: Math.max(1, tokens) });
    void this.#watch();
    try {
      return this.#reservation(await entered);
    } finally {
      this.#tell();
    }
  }

  #reservation(place: PoolPart): TokenReservation {
    let isSettled = false;
    return {
      settle: (tokens, sentAt) => {
        isSettled = true;
        const used = Math.max(1, tokens);
        place.keep(used);
        // More than was reserved counts as far as there is room: what waits is not pushed back.
        place.grow(used);
        this.#spent.add({ place, until: sentAt + minuteMs });
        this.#tell();
      },
      [Symbol.dispose]: () => {
        if (!isSettled) place.leave();
      },
    };
  }

  #giveBack(): void {
    const now = this.#clock.steadyMs();
    for (const spent of this.#spent) {
      if (spent.until > now) continue;
      this.#spent.delete(spent);
      spent.place.leave();
    }
  }

  #tell(): void {
    this.#news.abort();
    this.#news = new AbortController();
  }

  async #watch(): Promise<void> {
    if (this.#isWatched) return;
    this.#isWatched = true;
    while (this.#pool.waiting > 0) {
      const next = Math.min(...[...this.#spent].map(({ until }) => until), this.#clock.steadyMs() + minuteMs);
      await this.#clock.sleep(next - this.#clock.steadyMs(), this.#news.signal);
      this.#giveBack();
    }
    this.#isWatched = false;
  }
}

import type { Clock } from '../clock.ts';
import { mayHold } from '../fair-pool.ts';
import type { Breaker } from './breaker.ts';
import type { ModelLimit } from './metrics.ts';
import { between, type WaitedMs, WaitTimes } from './wait-times.ts';

/** Parts of a provider. */
interface Amounts {
  readonly tokens: number;
  readonly places: number;
}

/** A question that waits for its turn. */
interface Waiter {
  readonly tenant: string;
  readonly cost: Amounts;
  /** Its turn has come. It is sent at once: what it holds is all that it needs. */
  admit(part: HeldPart): void;
  /** Its wait is over, with a turn or without one. */
  waited(ms: WaitedMs): void;
}

/** Tokens and a place of one question. Giving one back twice is giving it back once. */
export interface HeldPart {
  leavePlace(): void;
  /** Holds so many tokens from now on: fewer, or more as far as the tenant may hold that now. */
  setTokens(tokens: number): void;
}

interface FairLineOptions {
  readonly clock: Pick<Clock, 'steadyMs'>;
  readonly size: Amounts;
  /** Questions that may wait, of all tenants together. */
  readonly waiting: number;
  readonly breaker: Pick<Breaker, 'isShut' | 'isShutFor'>;
}

/** The parts that one tenant holds, and its questions that wait, each with what the tenant had waited before. */
interface Holding {
  readonly tenant: string;
  readonly line: Map<Waiter, WaitedMs>;
  readonly times: WaitTimes;
  held: Amounts;
}

/** The provider is kept for the first one that wants more than is free. The others have what was free, but for what it will need. */
interface Keeping {
  readonly holding: Holding;
  readonly waiter: Waiter;
  readonly lendable: Amounts;
  /** Held by those that were served since. */
  lent: Amounts;
}

const nothing: Amounts = { tokens: 0, places: 0 };
const plus = (a: Amounts, b: Amounts): Amounts => ({ tokens: a.tokens + b.tokens, places: a.places + b.places });
const minus = (a: Amounts, b: Amounts): Amounts => ({ tokens: a.tokens - b.tokens, places: a.places - b.places });
const least = (a: Amounts, b: Amounts): Amounts => ({
  tokens: Math.min(a.tokens, b.tokens),
  places: Math.min(a.places, b.places),
});
const isWithin = (a: Amounts, b: Amounts): boolean => a.tokens <= b.tokens && a.places <= b.places;
const isNothing = (a: Amounts): boolean => isWithin(a, nothing);

/**
 * Questions that wait for one provider. One that has its turn has tokens and a place in one step, and the breaker lets it pass: none
 * holds anything while it waits. All that is held comes back by itself, so each tenant is served in bounded time (ADR 0162). Within a
 * tenant it is first come, first served. Between tenants the next is the one with the smallest share; among equals, the one that
 * has waited longest for its turn.
 */
export class FairLine {
  readonly #options: FairLineOptions;
  /** Tenants that hold something or wait, in the order of their turns. */
  readonly #holdings = new Map<string, Holding>();
  #used = nothing;
  #waiting = 0;
  #kept: Keeping | undefined;

  constructor(options: FairLineOptions) {
    this.#options = options;
  }

  get usedTokens(): number {
    return this.#used.tokens;
  }

  /** Questions that wait, of those tenants. */
  waiting(isOf: (tenant: string) => boolean = () => true): number {
    return [...this.#holdings.values()].reduce((sum, { tenant, line }) => sum + (isOf(tenant) ? line.size : 0), 0);
  }

  /** False, and it does not wait, where the tenant's part of the line is taken. It may have its turn at once. */
  join(waiter: Waiter): boolean {
    this.serve();
    const holding = this.#holdingOf(waiter.tenant);
    const isNext = holding.line.size === 0 && this.#mayBegin(holding, waiter);
    if (!isNext && !mayHold(holding.line.size, this.#options.waiting - this.#waiting)) {
      this.#forgetIdle(holding);
      return false;
    }
    holding.line.set(waiter, holding.times.read());
    this.#waiting += 1;
    this.serve();
    return true;
  }

  /** Waits no more. */
  leave(waiter: Waiter): void {
    const holding = this.#holdings.get(waiter.tenant);
    if (holding?.line.has(waiter) !== true) return;
    this.#end(holding, waiter);
    this.#forgetIdle(holding);
    this.serve();
  }

  /** To be called when anything was given back, or the breaker may let more pass. */
  serve(): void {
    for (let holding = this.#next(); holding !== undefined; holding = this.#next()) {
      const [waiter] = holding.line.keys();
      if (waiter === undefined) return;
      this.#end(holding, waiter);
      // Its next turn comes after everybody else's.
      this.#holdings.delete(holding.tenant);
      this.#holdings.set(holding.tenant, holding);
      waiter.admit(this.#hand(holding, waiter.cost));
    }
    for (const holding of this.#holdings.values()) holding.times.keptBy(this.#limitOf(holding));
  }

  #end(holding: Holding, waiter: Waiter): void {
    const before = holding.line.get(waiter);
    holding.line.delete(waiter);
    this.#waiting -= 1;
    if (this.#kept?.waiter === waiter) this.#kept = undefined;
    if (before !== undefined) waiter.waited(between(before, holding.times.read()));
  }

  #hand(holding: Holding, cost: Amounts): HeldPart {
    const lender = this.#kept;
    let held = nothing;
    const hold = (wanted: Amounts): void => {
      const more = minus(wanted, held);
      if (more.tokens === 0 && more.places === 0) return;
      held = wanted;
      holding.held = plus(holding.held, more);
      this.#used = plus(this.#used, more);
      if (lender !== undefined) lender.lent = plus(lender.lent, more);
      this.#forgetIdle(holding);
    };
    hold(cost);
    return {
      leavePlace: () => hold({ ...held, places: 0 }),
      setTokens: (wanted) => {
        const tokens = Math.min(wanted, this.#options.size.tokens);
        const more = tokens - held.tokens;
        if (more <= 0 || (held.tokens > 0 && this.#mayGrow(holding, more))) hold({ ...held, tokens });
      },
    };
  }

  /** Work that has begun comes before what its tenant waits for, and behind the one that all is kept for. */
  #mayGrow(holding: Holding, more: number): boolean {
    return this.#kept === undefined && mayHold(holding.held.tokens, this.#free.tokens, more);
  }

  get #free(): Amounts {
    return minus(this.#options.size, this.#used);
  }

  /** The tenant whose turn is next; undefined where none that waits may begin. */
  #next(): Holding | undefined {
    if (this.#waiting === 0 || this.#options.breaker.isShut) return undefined;
    this.#keepForFirst();
    const kept = this.#kept;
    if (kept !== undefined && isWithin(kept.waiter.cost, this.#free)) return kept.holding;
    let next: Holding | undefined;
    for (const holding of this.#holdings.values()) {
      const [waiter] = holding.line.keys();
      const isLess = next === undefined || this.#shareOf(holding) < this.#shareOf(next);
      if (waiter !== undefined && isLess && this.#mayBegin(holding, waiter)) next = holding;
    }
    return next;
  }

  /** Its part of that of which it holds most. */
  #shareOf({ held }: Holding): number {
    const { size } = this.#options;
    return Math.max(held.tokens / size.tokens, held.places / size.places);
  }

  #mayBegin(holding: Holding, { cost }: Waiter): boolean {
    const { breaker } = this.#options;
    if (breaker.isShut || breaker.isShutFor(holding.tenant)) return false;
    return this.#mayHave(holding, cost, 'tokens') && this.#mayHave(holding, cost, 'places');
  }

  /** Whether the tenant may hold so much more, and takes nothing that another one is to have first. */
  #mayHave(holding: Holding, cost: Amounts, of: keyof Amounts): boolean {
    return this.#isLeft(holding, cost, of) && mayHold(holding.held[of], this.#free[of], cost[of]);
  }

  /** Whether the one that the provider is kept for does not need it, or has enough of it free. */
  #isLeft(holding: Holding, cost: Amounts, of: keyof Amounts): boolean {
    const kept = this.#kept;
    if (kept === undefined || kept.holding === holding) return true;
    return kept.lent[of] + cost[of] <= kept.lendable[of] || kept.waiter.cost[of] <= this.#free[of] - cost[of];
  }

  /**
   * The next is the one that has waited longest for its turn among the tenants that hold nothing: each is served in bounded time,
   * since all that is held comes back. One that holds something soon holds nothing, since its line stops with it. One that its own
   * failures keep waiting keeps nothing from the others.
   */
  #keepForFirst(): void {
    const { breaker, size } = this.#options;
    const kept = this.#kept;
    if (kept !== undefined && !breaker.isShutFor(kept.holding.tenant)) return;
    this.#kept = undefined;
    for (const holding of this.#holdings.values()) {
      const [waiter] = holding.line.keys();
      if (!isNothing(holding.held) || waiter === undefined || breaker.isShutFor(holding.tenant)) continue;
      const lendable = least(this.#free, minus(size, waiter.cost));
      if (!isWithin(waiter.cost, this.#free)) this.#kept = { holding, waiter, lendable, lent: nothing };
      return;
    }
  }

  /** The limit that keeps the first question of the tenant waiting. */
  #limitOf(holding: Holding): ModelLimit | undefined {
    const { breaker } = this.#options;
    const [waiter] = holding.line.keys();
    if (waiter === undefined) return undefined;
    if (breaker.isShut || breaker.isShutFor(holding.tenant)) return 'rest';
    return this.#mayHave(holding, waiter.cost, 'tokens') ? 'concurrency' : 'tokens';
  }

  #holdingOf(tenant: string): Holding {
    const known = this.#holdings.get(tenant);
    if (known !== undefined) return known;
    const times = new WaitTimes(this.#options.clock);
    const holding = { tenant, line: new Map<Waiter, WaitedMs>(), times, held: nothing };
    this.#holdings.set(tenant, holding);
    return holding;
  }

  #forgetIdle(holding: Holding): void {
    if (isNothing(holding.held) && holding.line.size === 0) this.#holdings.delete(holding.tenant);
  }
}

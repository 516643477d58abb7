import type { Clock } from '../clock.ts';
import { lineIsFull, noTurnWithin } from '../fair-pool.ts';
import { onAbort } from '../on-abort.ts';
import { type Breaker, createBreaker, type ModelTurn } from './breaker.ts';
import { FairLine, type HeldPart } from './fair-line.ts';
import { modelLimits } from './limits.ts';
import type { WaitedMs } from './wait-times.ts';

/** The turn of a question. It is sent at once. Dispose of it when the question has ended: that gives back what it holds. */
export interface QuestionTurn extends ModelTurn {
  /** The question was sent at that time and used so many tokens, which count until a minute is over. Else its end gives them back. */
  settle(tokens: number, sentAt: number): void;
}

interface Wanted {
  readonly tenant: string;
  /** Tokens that it may use, until it is known how many it used. More than a minute's are taken as all of them. */
  readonly tokens: number;
  readonly signal: AbortSignal;
  /** Longest wait for the turn. */
  readonly waitMs: number;
}

/** The turns at one provider: its places, its tokens of a minute and its breaker, shared by tenants. */
export interface ProviderTurns {
  /**
   * Waits for its turn. Rejects with AppError `unavailable` where the tenant's part of the line is taken or the wait is over without
   * a turn, and with the signal's reason where that aborts first.
   */
  enter(wanted: Wanted): Promise<QuestionTurn>;
  /** Questions of the tenant wait, since the provider failed several times in a row. */
  isAwayFor(tenant: string): boolean;
  /** Tokens that count just now. */
  readonly counted: number;
  /** Questions that wait and whose provider failed several times in a row. */
  readonly resting: number;
}

interface ProviderTurnsOptions {
  readonly clock: Clock;
  /** Questions under way at once. */
  readonly places: number;
  /** Absent: any number. */
  readonly perMinute: number | undefined;
  readonly onRest?: (isResting: boolean, tenant?: string) => void;
  /** The wait of a question is over. */
  readonly onWaited?: (ms: WaitedMs) => void;
}

const minuteMs = 60_000;

export function createProviderTurns(options: ProviderTurnsOptions): ProviderTurns {
  return new SharedTurns(options);
}

interface Spent {
  readonly part: HeldPart;
  readonly until: number;
}

/** Time is watched only while questions wait, so that nothing keeps a process from its end. */
class SharedTurns implements ProviderTurns {
  readonly #clock: Clock;
  readonly #perMinute: number | undefined;
  readonly #onWaited: (ms: WaitedMs) => void;
  readonly #breaker: Breaker;
  readonly #line: FairLine;
  /** Tokens of questions that have ended. */
  readonly #spent = new Set<Spent>();
  #news = new AbortController();
  #isWatched = false;

  constructor({ clock, places, perMinute, onRest, onWaited = () => undefined }: ProviderTurnsOptions) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#onWaited = onWaited;
    const isAwaited = (tenant: string): boolean => this.#line.waiting((one) => one === tenant) > 0;
    this.#breaker = createBreaker(clock, { ...(onRest !== undefined && { onRest }), isAwaited });
    const size = { tokens: perMinute ?? Number.POSITIVE_INFINITY, places };
    this.#line = new FairLine({ clock, size, waiting: modelLimits.waiting, breaker: this.#breaker });
  }

  isAwayFor(tenant: string): boolean {
    return this.#breaker.isOpenFor(tenant);
  }

  get counted(): number {
    this.#giveBack();
    return this.#line.usedTokens;
  }

  get resting(): number {
    return this.#line.waiting((tenant) => this.#breaker.isOpenFor(tenant));
  }

  async enter({ tenant, tokens, signal, waitMs }: Wanted): Promise<QuestionTurn> {
    signal.throwIfAborted();
    this.#giveBack();
    using patience = createPatience();
    return await new Promise<QuestionTurn>((resolve, reject) => {
      const admit = (part: HeldPart): void => resolve(this.#turn(tenant, part));
      const cost = { tokens: this.#counts(tokens), places: 1 };
      const waiter = { tenant, cost, admit, waited: this.#onWaited };
      if (!this.#line.join(waiter)) return reject(lineIsFull());
      const giveUp = (reason: unknown): void => {
        this.#line.leave(waiter);
        this.#tell();
        reject(reason);
      };
      patience.listens(onAbort(signal, () => giveUp(signal.reason)));
      const tooLong = (): void => giveUp(noTurnWithin(waitMs));
      void this.#clock.sleep(waitMs, patience.signal).then(() => patience.signal.aborted || tooLong());
      void this.#watch();
    });
  }

  #turn(tenant: string, part: HeldPart): QuestionTurn {
    const turn = this.#breaker.begin(tenant);
    this.#tell();
    let isSettled = false;
    return {
      begun: () => this.#after(() => turn.begun()),
      answered: () => this.#after(() => turn.answered()),
      failed: () => this.#after(() => turn.failed()),
      settle: (tokens, sentAt) => {
        isSettled = true;
        if (this.#perMinute === undefined) return;
        // More than was reserved counts as far as there is room: what waits is not pushed back.
        part.setTokens(this.#counts(tokens));
        this.#spent.add({ part, until: sentAt + minuteMs });
        this.#after(() => this.#giveBack());
      },
      [Symbol.dispose]: () =>
        this.#after(() => {
          turn[Symbol.dispose]();
          part.leavePlace();
          if (!isSettled) part.setTokens(0);
        }),
    };
  }

  #counts(tokens: number): number {
    return this.#perMinute === undefined ? 0 : Math.min(Math.max(1, tokens), this.#perMinute);
  }

  /** Others may have their turns after it. */
  #after(act: () => void): void {
    act();
    this.#line.serve();
    this.#tell();
  }

  #giveBack(): void {
    const now = this.#clock.steadyMs();
    for (const spent of this.#spent) {
      if (spent.until > now) continue;
      this.#spent.delete(spent);
      spent.part.setTokens(0);
    }
  }

  #tell(): void {
    this.#news.abort('news');
    this.#news = new AbortController();
  }

  async #watch(): Promise<void> {
    if (this.#isWatched) return;
    this.#isWatched = true;
    while (this.#line.waiting() > 0) {
      const now = this.#clock.steadyMs();
      const next = Math.min(...[...this.#spent].map(({ until }) => until), this.#breaker.changesAt, now + minuteMs);
      await this.#clock.sleep(next - now, this.#news.signal);
      this.#giveBack();
      this.#line.serve();
    }
    this.#isWatched = false;
  }
}

/** Ends with the wait of one question. */
interface Patience extends Disposable {
  readonly signal: AbortSignal;
  /** Called at the end. */
  listens(off: () => void): void;
}

function createPatience(): Patience {
  const over = new AbortController();
  const ends: (() => void)[] = [];
  return {
    signal: over.signal,
    listens: (off) => void ends.push(off),
    [Symbol.dispose]: () => {
      // A reason spares the making of an error with its stack.
      over.abort('over');
      for (const end of ends) end();
    },
  };
}

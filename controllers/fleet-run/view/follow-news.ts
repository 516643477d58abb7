import { createBell } from '../../../lib/bell.ts';
import { exponential } from '../../../lib/backoff.ts';
import { busLimits, isBusFull } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { EdgeNews, NewsPlace } from '../../../lib/edge/index.ts';
import { fleetRunLimits } from '../limits.ts';
import type { LoggedNews, NewsReader } from './news-reader.ts';

export interface FollowNewsDeps {
  readonly news: NewsReader;
  readonly clock: Clock;
  /** Called when there is something new to decide on. */
  readonly wake: () => void;
}

interface Followed {
  readonly tenant: string;
  /** uid of the run. */
  readonly run: string;
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** `isNew`: false where the log was begun anew, and may have given the same before. */
  readonly takeIn: (news: EdgeNews, isNew: boolean) => void;
  /** Called once: all that the log held at first has been taken in. */
  readonly onCaughtUp: () => void;
}

/** Follows the log of results of one run, page by page, and finds its place again where the log has lost it. */
export class NewsFollower {
  readonly #deps: FollowNewsDeps;
  readonly #followed: Followed;
  /** Place of the last message that was read. */
  #place: NewsPlace | undefined;
  #isSure = false;
  /** Progress of this age and older was read before. */
  #readUntil = -Infinity;
  #isCaughtUp = false;
  /** Looks in a row that have found no log, and no room for one. */
  #fullLooks = 0;
  #fullSince: number | undefined;

  constructor(deps: FollowNewsDeps, followed: Followed) {
    this.#deps = deps;
    this.#followed = followed;
  }

  /** Whether all that the log held at first has been taken in. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  /** Since when there is no log, and NATS has no room for one; undefined where there is one, or that is not known. */
  get fullSince(): number | undefined {
    return this.#fullSince;
  }

  /** Until the signal aborts. Never rejects. */
  async follow(): Promise<void> {
    const { clock, news } = this.#deps;
    const { run, signal } = this.#followed;
    const { pauseMs, lookAgainMs, awayMs, fullAgainMs } = fleetRunLimits;
    const bell = createBell(clock);
    await using _listener = news.listen(run, bell.ring);
    while (!signal.aborted) {
      const came = await this.#readPage();
      // A place that was read a moment ago needs no look.
      this.#isSure = came > 0;
      if (came < 0) await clock.sleep(exponential({ baseMs: awayMs, maxMs: fullAgainMs }, this.#fullLooks), signal);
      else if (came === 0) await bell.wait(lookAgainMs, signal);
      // Those that follow soon share a page, and a turn of the run.
      else if (came < busLimits.pageMessages) await clock.sleep(pauseMs, signal);
    }
  }

  /** How many messages came; below 0 where the bus is away: what it holds is read when it is back. */
  async #readPage(): Promise<number> {
    const came = await this.#takeInPage().catch((error: unknown) => this.#noteFailed(error));
    if (came >= 0) this.#noteNotFull();
    if (came < 0 || this.#followed.signal.aborted) return -1;
    const isFirst = came === 0 && !this.#isCaughtUp;
    if (isFirst) this.#noteCaughtUp();
    if (isFirst || (came > 0 && this.#isCaughtUp)) this.#deps.wake();
    return came;
  }

  #noteFailed(error: unknown): number {
    if (isBusFull(error)) {
      this.#fullLooks += 1;
      this.#fullSince ??= this.#deps.clock.steadyMs();
      this.#deps.wake();
    } else this.#noteNotFull();
    return -1;
  }

  /** A bus that is away says nothing of its room. */
  #noteNotFull(): void {
    this.#fullLooks = 0;
    this.#fullSince = undefined;
  }

  #noteCaughtUp(): void {
    this.#isCaughtUp = true;
    this.#followed.onCaughtUp();
  }

  async #takeInPage(): Promise<number> {
    const { tenant, run, signal } = this.#followed;
    if (!this.#isSure) await this.#findPlace();
    let came = 0;
    for await (const logged of this.#deps.news.read({ tenant, run, after: this.#place?.sequence ?? 0, signal })) {
      if (signal.aborted) break;
      this.#takeIn(logged);
      came += 1;
    }
    return came;
  }

  /** Begins anew where the log has no more what was read last: news may have lower places. A result that comes again counts for nothing. */
  async #findPlace(): Promise<void> {
    const { tenant, run, signal } = this.#followed;
    const place = this.#place;
    if (place === undefined || (await this.#deps.news.has({ tenant, run, place, signal }))) return;
    this.#readUntil = Math.max(this.#readUntil, place.storedAt);
    this.#place = undefined;
  }

  #takeIn({ sequence, storedAt, news }: LoggedNews): void {
    this.#place = { sequence, storedAt };
    if (news !== undefined) this.#followed.takeIn(news, storedAt > this.#readUntil);
  }
}

import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import { createFairPool, type FairPool } from './fair-pool.ts';
import { HttpError } from './http/http-error.ts';
import { createWordMatcher } from './word-matcher.ts';

/** Characters that are read in one turn of the event loop: some tenths of a millisecond. */
const charactersPerTurn = 16_384;

/** Searches of one tenant that are under way at a time, in a process. */
export const searchesPerTenant = 16;

/** Whether a text holds each word of the search, whatever the letters' case. */
type WordSearch = (text: string) => Promise<boolean>;

/**
 * The one way in which lists are searched by words. Texts are read in linear time, one part of one search in a turn of
 * the event loop, the tenants by turns. Other requests are served in between. No number of searches of one tenant holds
 * up the search of another. No words are in every text.
 */
export interface Searches {
  /**
   * Searches rows as the task brings them.
   * @throws HttpError 429 where the tenant has `searchesPerTenant` under way.
   */
  run<T>(by: Search, task: (isHolding: WordSearch) => Promise<T>): Promise<T>;
  /** The rows whose texts hold each word. @throws HttpError as `run`. */
  rowsHolding<Row>(by: Search, rows: Iterable<Row>, textOf: (row: Row) => string): Promise<Row[]>;
}

interface Search {
  readonly tenant: string;
  readonly words: string | undefined;
}

export function createSearches(clock: Clock): Searches {
  return new TenantSearches(clock);
}

class TenantSearches implements Searches {
  readonly #turns: FairPool;
  /** Searches that are under way, by tenant. */
  readonly #underWay = new Map<string, number>();

  constructor(clock: Clock) {
    this.#turns = createFairPool({ size: 1, clock });
  }

  async run<T>({ tenant, words }: Search, task: (isHolding: WordSearch) => Promise<T>): Promise<T> {
    if (words === undefined || words.trim() === '') return task(async () => true);
    const before = this.#underWay.get(tenant) ?? 0;
    if (before >= searchesPerTenant) throw tooMany();
    this.#underWay.set(tenant, before + 1);
    try {
      return await task(this.#search(tenant, words));
    } finally {
      const left = (this.#underWay.get(tenant) ?? 1) - 1;
      if (left > 0) this.#underWay.set(tenant, left);
      else this.#underWay.delete(tenant);
    }
  }

  rowsHolding<Row>(by: Search, rows: Iterable<Row>, textOf: (row: Row) => string): Promise<Row[]> {
    return this.run(by, async (isHolding) => {
      const found: Row[] = [];
      for (const row of rows) if (await isHolding(textOf(row))) found.push(row);
      return found;
    });
  }

  #search(tenant: string, words: string): WordSearch {
    const isHolding = createWordMatcher(words);
    let left = charactersPerTurn;
    return async (text) => {
      left -= text.length;
      if (left <= 0) {
        await this.#nextTurn(tenant);
        left = charactersPerTurn;
      }
      return isHolding(text);
    };
  }

  /** A place is held until the next turn of the event loop alone, for a task may wait for its next row. */
  async #nextTurn(tenant: string): Promise<void> {
    using _place = await this.#turns.enter({ tenant });
    await setImmediate();
  }
}

const tooMany = (): HttpError =>
  new HttpError({
    code: 'limit_exceeded',
    status: 429,
    message: `a tenant has at most ${searchesPerTenant} searches under way in a replica; let some end, and try again`,
  });

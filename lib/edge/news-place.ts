import { busLimits, type TenantLogs } from '../bus/index.ts';

/** A message of a log that a reader has read last. */
export interface NewsPlace {
  /** Rises within a log, with gaps. */
  readonly sequence: number;
  /** When the store took it, in milliseconds since the epoch. */
  readonly storedAt: number;
}

interface PlaceQuery {
  readonly tenant: string;
  readonly key: string;
  readonly place: NewsPlace;
}

/**
 * Whether the log has that message still (ADR 0132). Where it has not, the message was dropped, or the store has lost its newest or is
 * another one: what came since may have a lower place. Throws AppError `unavailable` where the bus is away.
 */
export async function hasPlace(
  logs: Pick<TenantLogs, 'read'>,
  { tenant, key, place: { sequence, storedAt } }: PlaceQuery,
): Promise<boolean> {
  const [found] = await logs.read({ tenant, key, after: sequence - 1, bytes: 1 });
  return found?.sequence === sequence && Date.parse(found.time) === storedAt;
}

/** A message of a page. `isNew`: false for one that may have been read before. */
interface PagedNews {
  readonly body: Uint8Array;
  readonly isNew: boolean;
  readonly place: NewsPlace;
}

interface PageQuery {
  readonly tenant: string;
  readonly key: string;
}

/** Reads a log page by page, and anew from its start where it has no more what was read last. */
export class NewsPages {
  readonly #logs: Pick<TenantLogs, 'read'>;
  readonly #query: PageQuery;
  #place: NewsPlace | undefined;
  #isSure = false;
  #readUntil = -Infinity;

  constructor(logs: Pick<TenantLogs, 'read'>, query: PageQuery) {
    this.#logs = logs;
    this.#query = query;
  }

  /** The next messages; none where there is no more as yet. */
  async next(): Promise<readonly PagedNews[]> {
    if (!this.#isSure) await this.#findPlace();
    const after = this.#place?.sequence ?? 0;
    const page = await this.#logs.read({ ...this.#query, after, bytes: busLimits.smallPageBytes });
    const news = page.map(({ body, sequence, time }) => {
      const place = { sequence, storedAt: Date.parse(time) };
      return { body, place, isNew: place.storedAt > this.#readUntil };
    });
    const last = news.at(-1);
    if (last !== undefined) this.#place = last.place;
    // A place that was read a moment ago needs no look.
    this.#isSure = last !== undefined;
    return news;
  }

  async #findPlace(): Promise<void> {
    const place = this.#place;
    if (place === undefined || (await hasPlace(this.#logs, { ...this.#query, place }))) return;
    this.#readUntil = Math.max(this.#readUntil, place.storedAt);
    this.#place = undefined;
  }
}

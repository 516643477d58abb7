import type { EventBus, TenantLogsDefinition } from '../bus/index.ts';
import { type Clock, runAfter } from '../clock.ts';
import { isJsonObject } from '../json-object.ts';
import { NewsPages, type NewsPlace } from './news-place.ts';
import { edgeResultsStream } from './stream-name.ts';

/** How a command ended, as its daemon says. */
export type EdgeOutcome =
  | { readonly outcome: 'ok'; readonly exit_code: number; readonly duration_ms: number; readonly payload?: unknown }
  | { readonly outcome: 'err'; readonly code: string; readonly message: string; readonly exit_code: number }
  | { readonly outcome: 'timed_out'; readonly deadline_ms: number }
  | { readonly outcome: 'cancelled'; readonly reason: string };

/** A part of what a command puts out; `data` is Base64. `cut`: more followed, which is not kept. */
export type EdgeChunk =
  | { readonly stream: 'stdout' | 'stderr'; readonly data: string }
  | { readonly state: string; readonly message: string }
  | { readonly cut: true };

interface OfCommand {
  readonly tenant: string;
  readonly run: string;
  readonly node_id: string;
  readonly command_id: string;
  /** When the relay received it. RFC 3339. */
  readonly at: string;
}

/** News of a command. The first result of a command counts; another one of the same command is a repetition. */
export type EdgeNews = OfCommand &
  (
    | { readonly kind: 'progress'; readonly chunk: EdgeChunk }
    | { readonly kind: 'result'; readonly result: EdgeOutcome }
  );

/** News and where the log has them. */
export interface FollowedNews {
  readonly news: EdgeNews;
  readonly place: NewsPlace;
}

/** Results and progress of commands, kept in a log of each tenant until age or the tenant's share drops the oldest. */
export interface EdgeResults {
  /**
   * Resolves once it is stored. Throws AppError `unavailable` where the bus is away, which leaves that open: the same again
   * is stored once where it is a result, or has the `id` of before.
   */
  publish(news: EdgeNews, id?: string): Promise<void>;
  /**
   * The same for a result in place of a silent host's. It is stored also where the host's own was stored and has been
   * dropped since. A repeated call stores a second result; readers use the first.
   */
  report(news: Extract<EdgeNews, { readonly kind: 'result' }>): Promise<void>;
  /**
   * News of a run from its beginning, in order, until the signal aborts. Waits while there is none, and over a lost
   * connection. Where NATS has lost the newest, or begins anew, the log is read from its start: results come again, output does not
   * (ADR 0132).
   */
  follow(tenant: string, run: string, signal: AbortSignal): AsyncIterable<FollowedNews>;
}

/** Keys are the runs. A tenant above its share loses its own oldest news (ADR 0085). */
export const edgeResultLogs: TenantLogsDefinition = {
  name: edgeResultsStream,
  retention: { maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 1024 * 1_048_576 },
  inBatches: true,
};

/** Where a writer sends word that the log has news of a run. Word may be lost. */
export const edgeNewsAddress = (run: string) => ({ service: 'edge.news', key: run });

/** News of a run within this time are one word. */
const tellAfterMs = 10;

/** First and longest pause of a follower that has read everything. */
const pause = { baseMs: 50, maxMs: 500 } as const;

interface EdgeResultsDeps {
  readonly bus: Pick<EventBus, 'logs' | 'tell'>;
  readonly clock: Clock;
}

export function createEdgeResults({ bus, clock }: EdgeResultsDeps): EdgeResults {
  const logs = bus.logs(edgeResultLogs);

  const announce = createAnnouncer(bus, clock);

  return {
    async publish(news, given) {
      const { kind, command_id: command } = news;
      // A relay that crashed before it wrote down that the result is stored meets it again.
      const id = kind === 'result' ? `edge-result.${command}` : given;
      await logs.append({ ...messageOf(news), ...(id !== undefined && { id }) });
      announce(news.run);
    },
    async report(news) {
      await logs.append(messageOf(news));
      announce(news.run);
    },
    async *follow(tenant, run, signal) {
      const reader = new NewsPages(logs, { tenant, key: run });
      for (let waitMs: number = pause.baseMs; !signal.aborted; ) {
        // The connection is away: what is stored is read when it is back.
        const page = await reader.next().catch(() => []);
        for (const { body, isNew, place } of page) {
          const news = readEdgeNews(body);
          if (news !== undefined && (isNew || news.kind === 'result')) yield { news, place };
          if (signal.aborted) return;
        }
        waitMs = page.length > 0 ? pause.baseMs : Math.min(2 * waitMs, pause.maxMs);
        if (page.length === 0) await clock.sleep(waitMs, signal);
      }
    },
  };
}

/** Sends word that a run has news, soon and once for all that come meanwhile. */
function createAnnouncer(bus: Pick<EventBus, 'tell'>, clock: Clock): (run: string) => void {
  const due = new Set<string>();
  return (run) => {
    if (due.has(run)) return;
    due.add(run);
    runAfter(clock, tellAfterMs, () => {
      due.delete(run);
      bus.tell(edgeNewsAddress(run), '');
    });
  };
}

const messageOf = (news: EdgeNews) => ({ tenant: news.tenant, key: news.run, body: JSON.stringify(news) });

/** Only relays and the controllers write the log; what cannot be read comes from another version, and is undefined. */
export function readEdgeNews(body: Uint8Array): EdgeNews | undefined {
  try {
    const news: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (!isJsonObject(news) || (news['kind'] !== 'progress' && news['kind'] !== 'result')) return undefined;
    return news as unknown as EdgeNews;
  } catch {
    return undefined;
  }
}

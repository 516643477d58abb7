import { type EventBus } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import {
  type EdgeNews,
  edgeNewsAddress,
  edgeResultLogs,
  hasPlace,
  type NewsPlace,
  readEdgeNews,
} from '../../../lib/edge/index.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import type { TurnGate } from '../../runtime/turn-gate.ts';
import { fleetRunLimits } from '../limits.ts';
import { serveOnBus } from './serve-on-bus.ts';

export interface LoggedNews extends NewsPlace {
  /** Undefined: another version wrote it. */
  readonly news: EdgeNews | undefined;
}

interface NewsQuery {
  readonly tenant: string;
  /** uid of the run. */
  readonly run: string;
  /** The place behind which it begins. */
  readonly after: number;
  /** Ends the wait for a turn to read. */
  readonly signal: AbortSignal;
}

/** Answers of hosts to the commands of a run. The first of several results of one command counts, for every reader. */
export interface NewsReader {
  /** The next news, each in a turn of the event loop of its own; none: there is no more as yet. */
  read(query: NewsQuery): AsyncIterable<LoggedNews>;
  /**
   * Whether the log has that message still. Where it has not, the message was dropped, or the store has lost its newest or is another
   * one: what came since may have a lower place.
   */
  has(query: Omit<NewsQuery, 'after'> & { readonly place: NewsPlace }): Promise<boolean>;
  /** Calls `onNews` where the run may have news, until it is disposed of. A call may be missed. */
  listen(run: string, onNews: () => void): AsyncDisposable;
}

interface NewsReaderDeps {
  readonly bus: Pick<EventBus, 'logs' | 'serve'>;
  readonly clock: Clock;
  readonly turns: TurnGate;
}

/**
 * The log of results, page by page: a reader has to know when it has seen all that is stored. Values of a host's answer may
 * take fifty times its bytes, so that no two of a page are in memory, and few pages of all runs.
 */
export function createNewsReader({ bus, clock, turns }: NewsReaderDeps): NewsReader {
  const logs = bus.logs(edgeResultLogs);
  const pages = createFairPool({ size: fleetRunLimits.newsPages, clock });
  return {
    async *read({ tenant, run, after, signal }) {
      using _place = await pages.enter({ tenant, signal });
      const page = await logs.read({ tenant, key: run, after, bytes: fleetRunLimits.newsPageBytes });
      for (const { sequence, body, time } of page) {
        await turns.enter(tenant);
        yield { sequence, storedAt: Date.parse(time), news: readEdgeNews(body) };
      }
    },
    async has({ tenant, run, place, signal }) {
      using _place = await pages.enter({ tenant, signal });
      return await hasPlace(logs, { tenant, key: run, place });
    },
    listen(run, onNews) {
      const hear = async (): Promise<string> => {
        onNews();
        return '';
      };
      const responder = serveOnBus(bus, edgeNewsAddress(run), hear, { replicas: 'every' });
      // Messages that came before the server knew of the listener.
      void responder?.ready.then(onNews);
      return { [Symbol.asyncDispose]: async () => responder?.close(0) };
    },
  };
}

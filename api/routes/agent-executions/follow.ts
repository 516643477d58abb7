import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { aborted } from '../../../lib/aborted.ts';
import {
  type ConversationFeed,
  type ConversationListener,
  fewRecordsBehind,
  type PlacedRecord,
} from '../../agents/feed.ts';
import { endPhaseOf } from './stream-events.ts';

/** An event of an execution, as a reader sees it. */
export type Happening =
  | { readonly kind: 'record'; readonly placed: PlacedRecord }
  /** A piece of text of the model, which is on no record yet. */
  | { readonly kind: 'text'; readonly text: string }
  /** The object says that it is over, and the conversation has no end; undefined: the object is gone. */
  | { readonly kind: 'closed'; readonly execution: AgentExecution | undefined };

/** Objects of executions, as the watch brings them. */
export interface ExecutionNews {
  /** As it is now, without its texts; undefined when it is gone. */
  current(uid: string): AgentExecution | undefined;
  /** Calls `wake` at every change until the answer is called. */
  onChange(uid: string, wake: () => void): () => void;
}

export interface FollowDeps {
  readonly feed: ConversationFeed;
  readonly news: ExecutionNews;
}

export interface Followed {
  readonly tenant: string;
  readonly uid: string;
  /** The place behind which to begin. */
  readonly after: number;
  /** Whether pieces of text are wanted. */
  readonly texts: boolean;
  readonly signal: AbortSignal;
}

/**
 * Everything that has happened behind a place, then what happens, until the conversation or the execution ends. The object
 * is looked at before the records: an end that it tells of is on record by then, if it ever will be.
 */
export async function* follow(deps: FollowDeps, followed: Followed): AsyncGenerator<Happening> {
  const { uid, texts } = followed;
  const bell = new Bell();
  await using listener = deps.feed.listen(uid, texts ? (text) => bell.add(text) : undefined);
  const forget = deps.news.onChange(uid, () => bell.ring());
  try {
    await listener.ready;
    yield* happenings(deps, followed, { bell, listener });
  } finally {
    forget();
  }
}

interface Ears {
  readonly bell: Bell;
  readonly listener: ConversationListener;
}

/** How long the end of a conversation waits for its object: the controllers write that some 100 ms later. */
const endShownMs = 2_000;

async function* happenings({ feed, news }: FollowDeps, followed: Followed, { bell, listener }: Ears) {
  const { tenant, uid, signal } = followed;
  let last = followed.after;
  while (!signal.aborted) {
    const rung = bell.reset();
    const execution = news.current(uid);
    for (const text of bell.take()) yield { kind: 'text', text } as const;
    for await (const placed of fewRecordsBehind(feed, tenant, uid, last)) {
      last = placed.sequence;
      const isEnd = placed.record.kind === 'ended';
      if (isEnd) await endShown(news, uid, { bell, signal });
      yield { kind: 'record', placed } as const;
      if (isEnd) return;
    }
    if (execution === undefined || endPhaseOf(execution) !== undefined) {
      yield { kind: 'closed', execution } as const;
      return;
    }
    if (!rung.aborted) await listener.news(AbortSignal.any([signal, rung]));
  }
}

/** A client that reads the execution behind the last event is to find it ended. */
async function endShown(news: ExecutionNews, uid: string, { bell, signal }: { bell: Bell; signal: AbortSignal }) {
  const over = AbortSignal.any([signal, AbortSignal.timeout(endShownMs)]);
  for (;;) {
    const rung = bell.reset();
    const execution = news.current(uid);
    if (over.aborted || execution === undefined || endPhaseOf(execution) !== undefined) return;
    await aborted(AbortSignal.any([over, rung]));
  }
}

/** Pieces of text that wait for a reader, and their UTF-16 units; those beyond are left out, as the record has them all. */
const kept = { texts: 1_000, units: 32_768 } as const;

/** Wakes a reader, and keeps the pieces of text that came meanwhile. */
class Bell {
  #texts: string[] = [];
  #units = 0;
  #rung = new AbortController();

  add(text: string): void {
    if (this.#texts.length < kept.texts && this.#units + text.length <= kept.units) {
      this.#texts.push(text);
      this.#units += text.length;
    }
    this.ring();
  }

  ring(): void {
    this.#rung.abort();
  }

  /** A signal that aborts when the bell rings from now on. */
  reset(): AbortSignal {
    this.#rung = new AbortController();
    return this.#rung.signal;
  }

  take(): readonly string[] {
    this.#units = 0;
    return this.#texts.splice(0);
  }
}

import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { createWakesByUid } from '../../../lib/informer/index.ts';
import {
  type ConversationFeed,
  type ConversationListener,
  fewRecordsBehind,
  type PlacedRecord,
} from '../../agents/conversation/feed.ts';
import type { Informers } from '../../cluster/index.ts';
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

/** Wakes the followers of an execution at each change of its object. */
export function createExecutionNews(informer: Pick<Informers['agentExecutions'], 'cache' | 'onChange'>): ExecutionNews {
  const wakes = createWakesByUid<AgentExecution>(informer);
  return {
    current: (uid) => informer.cache.getByUid(uid),
    onChange: (uid, wake) => wakes.onChange(uid, wake),
  };
}

export interface FollowDeps {
  readonly clock: Clock;
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
  const pieces = new Pieces();
  const take = (text: string): void => {
    pieces.add(text);
    listener.wake();
  };
  await using listener = deps.feed.listen(uid, texts ? take : undefined);
  const forget = deps.news.onChange(uid, () => listener.wake());
  try {
    await listener.ready;
    yield* happenings(deps, followed, { pieces, listener });
  } finally {
    forget();
  }
}

interface Ears {
  readonly pieces: Pieces;
  readonly listener: ConversationListener;
}

/** How long the end of a conversation waits for its object: the controllers write that some 100 ms later. */
const endShownMs = 2_000;

async function* happenings({ clock, feed, news }: FollowDeps, followed: Followed, { pieces, listener }: Ears) {
  const { tenant, uid, signal } = followed;
  let last = followed.after;
  while (!signal.aborted) {
    const execution = news.current(uid);
    for (const text of pieces.take()) yield { kind: 'text', text } as const;
    for await (const placed of fewRecordsBehind(feed, tenant, uid, last)) {
      if (isBehindEnd(execution, placed)) break;
      last = placed.sequence;
      const isEnd = placed.record.kind === 'ended';
      if (isEnd) await endShown({ clock, news }, uid, { listener, signal });
      yield { kind: 'record', placed } as const;
      if (isEnd) return;
    }
    if (execution === undefined || endPhaseOf(execution) !== undefined) {
      yield { kind: 'closed', execution } as const;
      return;
    }
    await listener.news(signal);
  }
}

/**
 * A driver that has not heard of an early cancellation may write the start behind it. That execution has no start, and all that
 * follows is behind its end as well.
 */
function isBehindEnd(execution: AgentExecution | undefined, { record }: PlacedRecord): boolean {
  const { phase, finished_at: end } = execution?.status ?? {};
  return record.kind === 'started' && phase === 'cancelled' && end !== undefined && record.at > end;
}

interface Waiting {
  readonly listener: ConversationListener;
  readonly signal: AbortSignal;
}

/** A client that reads the execution behind the last event is to find it ended. */
async function endShown(
  { clock, news }: Pick<FollowDeps, 'clock' | 'news'>,
  uid: string,
  { listener, signal }: Waiting,
) {
  using deadline = startDeadline(clock, endShownMs, signal);
  const over = deadline.signal;
  for (;;) {
    const execution = news.current(uid);
    if (over.aborted || execution === undefined || endPhaseOf(execution) !== undefined) return;
    await listener.news(over);
  }
}

/** Pieces that are kept at most, and their UTF-16 units. Those beyond are left out, because the record has the whole text. */
const kept = { texts: 1_000, units: 32_768 } as const;

/** Pieces of text that wait for a reader. */
class Pieces {
  #texts: string[] = [];
  #units = 0;

  add(text: string): void {
    if (this.#texts.length >= kept.texts || this.#units + text.length > kept.units) return;
    this.#texts.push(text);
    this.#units += text.length;
  }

  take(): readonly string[] {
    this.#units = 0;
    return this.#texts.splice(0);
  }
}

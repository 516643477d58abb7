import { Readable } from 'node:stream';
import { aborted } from '../../../lib/aborted.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type ConversationState, emptyState, fold } from '../../../lib/conversation/state.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { AppError } from '../../../lib/errors.ts';
import { createFairPool, type FairPool } from '../../../lib/fair-pool.ts';
import { bodyLimits } from '../../../lib/http/body-limits.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import type { Reply } from '../../../lib/http/route.ts';
import type { ModelMessage } from '../../../lib/models/models.ts';
import type { ConversationFeed, PlacedRecord } from '../../agents/conversation/feed.ts';

/** A conversation that is over, and the request that asks for its end. */
interface Ended {
  readonly tenant: string;
  readonly executionId: string;
  readonly request: { reserve(bytes: number): Promise<void>; readonly signal: AbortSignal };
  /** Judges the state behind the last record, before anything is answered; its messages are left out. */
  readonly check: (state: ConversationState) => void;
}

/** Answers `final`: the outcome is in the log, whichever replica wrote it. */
export interface FinalAnswers {
  /** @throws HttpError 503 where the tenant's share of memory for such answers is taken, and what `check` throws. */
  answer(ended: Ended): Promise<Reply>;
}

interface FinalAnswersDeps {
  readonly feed: Pick<ConversationFeed, 'read'>;
  readonly clock: Clock;
}

/**
 * Each answer is read twice, page by page, and sent as it is read. So one takes the memory of its largest page, however long
 * the conversation was. An execution has one reader at a time, and tenants share the turns of reading a page.
 */
export function createFinalAnswers({ feed, clock }: FinalAnswersDeps): FinalAnswers {
  const readers = new Readers(clock);
  const turns = createFairPool({ size: pagesAtOnce, clock, waitMs: bodyLimits.waitMs });
  return {
    async answer(ended) {
      const turn = await readers.enter(ended.executionId, ended.request.signal);
      try {
        const pages = new Pages(feed, turns, ended);
        const { state, records } = await read(pages);
        ended.check(state);
        const stream = Readable.from(bytesOf(pages, records), { objectMode: false, highWaterMark: pieceBytes });
        stream.once('close', () => turn[Symbol.dispose]());
        return { kind: 'stream', stream, mediaType: 'application/json' };
      } catch (error) {
        turn[Symbol.dispose]();
        throw error;
      }
    },
  };
}

const pieceBytes = 32_768;
/** Pages that are read at once, of all tenants: as they come from the bus, each may have a message of 1 MiB. */
const pagesAtOnce = 8;

const taken = (): HttpError =>
  new HttpError({
    code: 'unavailable',
    message: 'the final answers of this tenant that are being read have its share of memory; ask again',
  });

const unlessTaken = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'unavailable' ? taken() : error;

/** One reader of each execution; the others wait for their turn as long as a request waits for memory. */
class Readers {
  readonly #clock: Clock;
  readonly #reading = new Map<string, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async enter(executionId: string, signal: AbortSignal): Promise<Disposable> {
    using patience = startDeadline(this.#clock, bodyLimits.waitMs, signal);
    for (;;) {
      const other = this.#reading.get(executionId);
      if (other === undefined) return this.#begin(executionId);
      await Promise.race([other, aborted(patience.signal)]);
      if (patience.signal.aborted)
        throw new HttpError({
          code: 'unavailable',
          message: 'another request of this execution reads its final answer; ask again',
        });
    }
  }

  #begin(executionId: string): Disposable {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading.set(executionId, promise);
    return {
      [Symbol.dispose]: () => {
        if (this.#reading.get(executionId) === promise) this.#reading.delete(executionId);
        resolve();
      },
    };
  }
}

/** The page takes more than is reserved. */
class LargerPage extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super();
    this.bytes = bytes;
  }
}

/** Pages of one conversation, for each of which memory is reserved. That of the largest one is held until the request has left. */
class Pages {
  readonly #feed: Pick<ConversationFeed, 'read'>;
  readonly #turns: FairPool;
  readonly #ended: Ended;
  /** Requests may have so much in any case. */
  #reserved: number = bodyLimits.smallParsedBytes;

  constructor(feed: Pick<ConversationFeed, 'read'>, turns: FairPool, ended: Ended) {
    this.#feed = feed;
    this.#turns = turns;
    this.#ended = ended;
  }

  async *records(): AsyncGenerator<PlacedRecord> {
    for (let last = 0; ; ) {
      const page = await this.#behind(last);
      const end = page.at(-1);
      if (end === undefined) return;
      last = end.sequence;
      yield* page;
    }
  }

  /** A page that waits for memory is let go, and read again. */
  async #behind(after: number): Promise<readonly PlacedRecord[]> {
    for (;;) {
      const wanted = await this.#inTurn(() => this.#read(after));
      if (!(wanted instanceof LargerPage)) return wanted;
      await this.#reserve(wanted.bytes);
    }
  }

  async #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const { tenant, request } = this.#ended;
    using _turn = await this.#turns.enter({ tenant, signal: request.signal }).catch((error: unknown) => {
      throw unlessTaken(error);
    });
    return await read();
  }

  async #read(after: number): Promise<readonly PlacedRecord[] | LargerPage> {
    const { tenant, executionId } = this.#ended;
    const reserve = async (bytes: number): Promise<void> => {
      if (bytes > this.#reserved) throw new LargerPage(bytes);
    };
    return this.#feed.read(tenant, executionId, after, { isSmall: true, reserve }).catch((error: unknown) => {
      if (error instanceof LargerPage) return error;
      throw error;
    });
  }

  async #reserve(bytes: number): Promise<void> {
    await this.#ended.request.reserve(bytes).catch((error: unknown) => {
      throw unlessTaken(error);
    });
    this.#reserved = bytes;
  }
}

/** Places of the records that a reading has found. */
interface Found {
  readonly first: number;
  readonly count: number;
}

/** Folds all records, and keeps no messages, arguments and verdicts of them. */
async function read(pages: Pages): Promise<{ readonly state: ConversationState; readonly records: Found }> {
  const state = emptyState();
  let [first, count] = [0, 0];
  for await (const { sequence, record } of pages.records()) {
    if (count === 0) first = sequence;
    count += 1;
    fold(state, record);
    takeMessages(state);
  }
  return { state, records: { first, count } };
}

function takeMessages(state: ConversationState): ModelMessage[] {
  state.verdicts.clear();
  state.approvals.clear();
  return state.messages.splice(0);
}

/** @throws where the bus has dropped records since the first reading: the client is to see no whole answer. */
async function* bytesOf(pages: Pages, { first, count }: Found): AsyncGenerator<Buffer> {
  const state = emptyState();
  let separator = '{"type":"final","conversation":[';
  let left = count;
  for await (const { sequence, record } of pages.records()) {
    if (left === count && sequence !== first) throw dropped();
    left -= 1;
    fold(state, record);
    for (const message of takeMessages(state)) {
      yield* piecesOf(separator + JSON.stringify(message));
      separator = ',';
    }
  }
  const { result, toolCalls } = state;
  if (left > 0 || result === undefined) throw dropped();
  const rest = { tool_calls_executed: toolCalls, content: result.output ?? result.message ?? '' };
  const opening = separator === ',' ? '' : separator;
  yield* piecesOf(`${opening}],${JSON.stringify(rest).slice(1)}`);
}

const dropped = (): HttpError =>
  new HttpError({
    code: 'unavailable',
    message: 'the log of the conversation has lost records while its final answer was read; ask again',
  });

/** How far a client has read is seen between two pieces alone. */
function* piecesOf(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let sent = 0; sent < bytes.length; sent += pieceBytes) yield bytes.subarray(sent, sent + pieceBytes);
}

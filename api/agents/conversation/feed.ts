import type { ConversationRecord } from '../../../lib/conversation/record.ts';

/** A record with its place in the conversation; places rise, with gaps. */
export interface PlacedRecord {
  readonly sequence: number;
  readonly record: ConversationRecord;
}

/** A listener's view of one conversation. Dispose of it when the client has gone. */
export interface ConversationListener extends AsyncDisposable {
  /** Resolves once news after this call will wake `news`. */
  readonly ready: Promise<void>;
  /**
   * Resolves when the conversation may have a new record, or `wake` was called since the last news, at the latest after ten
   * seconds, or when `signal` aborts.
   */
  news(signal: AbortSignal): Promise<void>;
  /** For what another source knows. */
  wake(): void;
}

/** Wishes of a reader about a page of records. */
interface RecordPage {
  /** The page may be kept for a client that does not read. */
  readonly isSmall?: true;
  /** Waits for the memory that the records take. @throws HttpError 503 where there is none for long. */
  readonly reserve?: (bytes: number) => Promise<void>;
}

/** Conversations as their readers see them, whichever replica drives them. */
export interface ConversationFeed {
  /** Records behind a place, the oldest first, a page at most; empty where there are none. */
  read(tenant: string, executionId: string, after: number, page?: RecordPage): Promise<readonly PlacedRecord[]>;
  /** `onText` hears pieces of text as the model writes them; without a listener they are lost. */
  listen(executionId: string, onText?: (text: string) => void): ConversationListener;
}

/** All records behind a place, page by page, each read once the one before was taken. */
export const recordsBehind = (
  feed: Pick<ConversationFeed, 'read'>,
  tenant: string,
  executionId: string,
  after: number,
): AsyncGenerator<PlacedRecord> => recordsOf((last) => feed.read(tenant, executionId, last), after);

/** The same in small pages, for a reader who may not go on. */
export const fewRecordsBehind = (
  feed: Pick<ConversationFeed, 'read'>,
  tenant: string,
  executionId: string,
  after: number,
): AsyncGenerator<PlacedRecord> => recordsOf((last) => feed.read(tenant, executionId, last, { isSmall: true }), after);

async function* recordsOf(
  read: (after: number) => Promise<readonly PlacedRecord[]>,
  after: number,
): AsyncGenerator<PlacedRecord> {
  let last = after;
  for (;;) {
    const page = await read(last);
    yield* page;
    const end = page.at(-1);
    if (end === undefined) return;
    last = end.sequence;
  }
}

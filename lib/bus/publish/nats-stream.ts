import { type BusCalls, ignoreFailure } from '../calls.ts';
import { isConflict, isStreamGone } from '../bus-error.ts';
import { type FoundMessage, hasHeader } from '../found-message.ts';
import { busLimits } from '../limits.ts';
import type { BusConnection } from '../bus-connection.ts';
import { messageId } from '../subjects.ts';
import type { MessageStream, NewMessage, StreamDefinition, StreamMessage } from './message-stream.ts';
import { type PageBounds, pageOf, readAhead, type TakeRoom } from './read-ahead.ts';
import type { Message } from './publisher.ts';
import { ownStreamName, ownSubject, readSubject, sourceFilter } from './stream-subjects.ts';

/** A stream of our own on NATS, which is made by the first use. */
export function createNatsStream(calls: BusCalls, definition: StreamDefinition): MessageStream {
  const name = ownStreamName(definition);
  /** Waits for the stream, and for its room. */
  const ready = async (connection: BusConnection, end: number, { body }: Pick<NewMessage, 'body'>): Promise<void> => {
    const making = connection.prepare(definition);
    if (making !== undefined) await calls.within(end, making);
    const turn = admit(connection, definition, body.length);
    if (turn !== undefined) await calls.within(end, turn);
  };
  return {
    ...readsOf(calls, definition),
    append: (message) =>
      calls.call('append', async (connection, end) => {
        await ready(connection, end, message);
        const { id, after } = message;
        const { subject, ...more } = messageFor(definition, message);
        try {
          return await connection.publish({ subject, ...more });
        } catch (error) {
          const own = await storedBefore(error, { id, after }, (from) =>
            calls.within(end, connection.next(name, subject, from)),
          );
          if (own === undefined) throw error;
          return own;
        }
      }),
    note: (message) =>
      void calls
        .call('note', async (connection, end) => {
          await ready(connection, end, message);
          connection.tell(messageFor(definition, message));
        })
        .catch(ignoreFailure),
  };
}

function messageFor(definition: StreamDefinition, { tenant, key, body, id, after }: NewMessage): Message {
  const headers = {
    'Nats-Expected-Stream': [ownStreamName(definition)],
    ...(id === undefined ? {} : { 'Nats-Msg-Id': [messageId(id)] }),
    ...(after === undefined ? {} : { 'Nats-Expected-Last-Subject-Sequence': [String(after)] }),
  };
  return { subject: ownSubject(definition, tenant, key), body, headers };
}

/**
 * Sequence of a guarded message that an earlier attempt stored, whose answer was lost. A server of one replica compares the
 * guard before it looks for the id, so that the message itself seems to be another writer's.
 */
async function storedBefore(
  error: unknown,
  { id, after }: Pick<NewMessage, 'id' | 'after'>,
  next: (from: number) => Promise<FoundMessage | undefined>,
): Promise<number | undefined> {
  if (id === undefined || after === undefined || !isConflict(error)) return undefined;
  const found = await next(after + 1);
  return found !== undefined && hasHeader(found, 'Nats-Msg-Id', messageId(id)) ? found.seq : undefined;
}

function admit(connection: BusConnection, definition: StreamDefinition, bytes: number): Promise<void> | undefined {
  const { share, isRecord } = definition;
  if (share !== undefined) return connection.tenantShares(share).admit(bytes);
  return isRecord === true ? connection.shares.admit(ownStreamName(definition), bytes) : undefined;
}

function readsOf(calls: BusCalls, definition: StreamDefinition): Omit<MessageStream, 'append' | 'note'> {
  const name = ownStreamName(definition);
  const all = sourceFilter(definition, undefined, undefined);
  const read = <R>(work: (connection: BusConnection) => Promise<R>): Promise<R> =>
    calls.long('read', async (connection) => {
      await connection.prepare(definition);
      return work(connection);
    });
  const page = (query: Page): Promise<StreamMessage[]> =>
    read((connection) => readPage(connection, definition, query, () => roomFor(calls, query)));
  const toMessage = (found: FoundMessage | undefined): StreamMessage | undefined =>
    found && messageOf(definition, found);
  return {
    read: ({ tenant, key, after, bytes }) =>
      page({ tenant, filter: ownSubject(definition, tenant, key), after, bytes }),
    last: ({ tenant, key }) =>
      read(async (connection) => toMessage(await connection.last(name, ownSubject(definition, tenant, key)))),
    peek: ({ tenant, key }) =>
      calls.call('read', async (connection, end) => {
        const found = connection.last(name, ownSubject(definition, tenant, key)).catch(unlessGone);
        return toMessage(await calls.within(end, found));
      }),
    scan: ({ tenant, after, bytes }) =>
      page({ tenant, filter: sourceFilter(definition, tenant, undefined), after, bytes }),
    oldest: () => read(async (connection) => toMessage(await connection.next(name, all, 1))),
    bounds: () => read((connection) => connection.bounds(name)),
    before: (ms) => read((connection) => seek(connection, { name, all }, ms)),
  };
}

function unlessGone(error: unknown): undefined {
  if (isStreamGone(error)) return undefined;
  throw error;
}

/** Halves the range of sequences until it is empty: the server finds messages by sequence, and time rises with it. */
async function seek(
  connection: BusConnection,
  { name, all }: { readonly name: string; readonly all: string },
  ms: number,
): Promise<number> {
  let { first: low, last: high } = await connection.bounds(name);
  // All that is below `low` is older, and all from `high` on is not, or there is nothing.
  high += 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await connection.next(name, all, middle);
    if (found === undefined || found.seq >= high || Date.parse(found.timestamp) >= ms) high = middle;
    else low = found.seq + 1;
  }
  return Math.max(0, low - 1);
}

function messageOf(definition: StreamDefinition, found: Found): StreamMessage {
  const { seq: sequence, data: body, timestamp: time, subject } = found;
  return { ...readSubject(definition, subject), sequence, body, time };
}

interface Page {
  /** The tenant that the memory is of. */
  readonly tenant: string | undefined;
  readonly filter: string;
  readonly after: number;
  readonly bytes: number;
}

const roomFor = ({ ahead }: BusCalls, { tenant = '' }: Page): Disposable | undefined =>
  ahead.tryEnter({ tenant, cost: busLimits.messageBytes });

/**
 * The server finds messages from a place on, by subject: it seeks, and no consumer is made for a read. A batch comes from any replica,
 * which may be behind the leader: that there is no more, the leader says.
 */
async function readPage(
  connection: BusConnection,
  definition: StreamDefinition,
  { filter, after, bytes }: Page,
  takeRoom: TakeRoom,
): Promise<StreamMessage[]> {
  const stream = ownStreamName(definition);
  const page = { after, most: busLimits.pageMessages, bytes };
  const batch = definition.inBatches === true ? await readBatch(connection, { stream, filter, page }, takeRoom) : [];
  const found =
    batch.length > 0 ? batch : await readAhead((place) => connection.next(stream, filter, place), page, takeRoom);
  return found.map((message) => messageOf(definition, message));
}

type Found = Omit<FoundMessage, 'headers'>;

/** The server ends a batch with the message that is too much for its page: there has to be room for that one. */
async function readBatch(
  connection: BusConnection,
  { stream, filter, page }: { readonly stream: string; readonly filter: string; readonly page: PageBounds },
  takeRoom: TakeRoom,
): Promise<readonly Found[]> {
  using room = takeRoom();
  return room === undefined ? [] : pageOf(await connection.batch(stream, filter, page), page);
}

import type { BusCalls } from '../calls.ts';
import { busLimits } from '../limits.ts';
import type { Session } from '../session.ts';
import { messageId } from '../subjects.ts';
import type { MessageStream, StreamDefinition, StreamMessage } from './message-stream.ts';
import { ownStreamName, ownSubject } from './stream-subjects.ts';

/** A stream of our own on NATS, which is made by the first use. */
export function createNatsStream(calls: BusCalls, definition: StreamDefinition): MessageStream {
  return {
    append: ({ tenant, key, body, id, after }) =>
      calls.call('append', async (session, end) => {
        const subject = ownSubject(definition, tenant, key);
        await calls.within(end, session.prepare(definition));
        const headers = {
          'Nats-Expected-Stream': [ownStreamName(definition)],
          ...(id === undefined ? {} : { 'Nats-Msg-Id': [messageId(id)] }),
          ...(after === undefined ? {} : { 'Nats-Expected-Last-Subject-Sequence': [String(after)] }),
        };
        return session.publish({ subject, body, headers });
      }),
    read: ({ tenant, key, after }) =>
      calls.long('read', async (session) => {
        const filter = ownSubject(definition, tenant, key);
        await session.prepare(definition);
        return readPage(session, ownStreamName(definition), { filter, after, tenant, key });
      }),
  };
}

interface Page extends Pick<StreamMessage, 'tenant' | 'key'> {
  readonly filter: string;
  readonly after: number;
}

/** One request for the first message after a place, by subject: the server seeks, and no consumer is made for a read. */
async function readPage(session: Session, stream: string, page: Page): Promise<StreamMessage[]> {
  const { tenant, key, filter } = page;
  const found: StreamMessage[] = [];
  let { after } = page;
  while (found.length < busLimits.pageMessages) {
    const message = await session.next(stream, filter, after + 1);
    if (message === null) break;
    const { seq: sequence, data: body, timestamp: time } = message;
    found.push({ tenant, key, sequence, body, time });
    after = sequence;
  }
  return found;
}

import type { Msg } from '@nats-io/transport-node';
import { messageIn } from '../found-message.ts';

/** The last message under the subject of a key. */
export interface KeyValueMessage {
  readonly text: string;
  readonly revision: number;
  /** The message is the mark of a key that was deleted or has ended. */
  readonly isFreed: boolean;
}

/** A deleted key is marked by its writer, and one whose time is over by the server. */
const freed = /^(?:KV-Operation: (?:DEL|PURGE)|Nats-Marker-Reason: \S+)\r?$/im;

/**
 * The message in an answer of the server to a request for one; undefined where it has none.
 * @throws StreamRefusal where the server says no.
 */
export function storedIn(answer: Pick<Msg, 'json'>): KeyValueMessage | undefined {
  const found = messageIn(answer);
  if (found === undefined) return undefined;
  const { seq: revision, data, headers } = found;
  return { text: Buffer.from(data).toString(), revision, isFreed: headers !== '' && freed.test(headers) };
}

import type { Msg } from '@nats-io/transport-node';
import { errorCodes, StreamRefusal } from '../bus-error.ts';

/** The last message under the subject of a key. */
export interface StoredValue {
  readonly text: string;
  readonly revision: number;
  /** The message is the mark of a key that was deleted or has ended. */
  readonly isFreed: boolean;
}

/** As the server writes it: headers and data are base64. */
interface FoundMessage {
  readonly message?: { readonly seq?: number; readonly hdrs?: string; readonly data?: string };
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** A deleted key is marked by its writer, and one whose time is over by the server. */
const freed = /^(?:KV-Operation: (?:DEL|PURGE)|Nats-Marker-Reason: \S+)\r?$/im;

/**
 * The message in an answer of the server to a request for one; undefined where it has none.
 * @throws StreamRefusal where the server says no.
 */
export function storedIn(answer: Pick<Msg, 'json'>): StoredValue | undefined {
  const { message, error } = answer.json<FoundMessage>();
  if (error?.err_code === errorCodes.noMessage) return undefined;
  if (error !== undefined) throw new StreamRefusal(error.err_code, error.description ?? 'refused');
  const { seq: revision, hdrs = '', data = '' } = message ?? {};
  if (revision === undefined) throw new Error('the server answered something else than a message');
  return { text: decoded(data), revision, isFreed: hdrs !== '' && freed.test(decoded(hdrs)) };
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();

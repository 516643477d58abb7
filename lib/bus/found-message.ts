import type { Msg } from '@nats-io/transport-node';
import { errorCodes, StreamRefusal } from './bus-error.ts';

/** A message as a stream has it. */
export interface FoundMessage {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  /** When it was stored. RFC 3339, to the nanosecond. */
  readonly timestamp: string;
  /** Its headers as lines; empty where it has none. */
  readonly headers: string;
}

/** As the server writes it: headers and data are base64. */
interface Answer {
  readonly message?: {
    readonly subject: string;
    readonly seq: number;
    readonly time: string;
    readonly hdrs?: string;
    readonly data?: string;
  };
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/**
 * The message in an answer of the server to a request for one; undefined where it has none.
 * @throws StreamRefusal where the server says no.
 */
export function messageIn(answer: Pick<Msg, 'json'>): FoundMessage | undefined {
  const { message, error } = answer.json<Answer>();
  if (error?.err_code === errorCodes.noMessage) return undefined;
  if (error !== undefined) throw new StreamRefusal(error.err_code, error.description ?? 'refused');
  if (message?.seq === undefined) throw new Error('the server answered something else than a message');
  const { subject, seq, data = '', time: timestamp, hdrs = '' } = message;
  return { subject, seq, data: decoded(data), timestamp, headers: hdrs === '' ? '' : decoded(hdrs).toString() };
}

/** Whether the message has a header with this value, as our clients write it. */
export const hasHeader = ({ headers }: FoundMessage, name: string, value: string): boolean =>
  headers.split('\r\n').includes(`${name}: ${value}`);

const decoded = (base64: string): Buffer => Buffer.from(base64, 'base64');

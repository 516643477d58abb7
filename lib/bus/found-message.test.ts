import { describe, expect, it } from 'vitest';
import { errorCodes, StreamRefusal } from './bus-error.ts';
import { hasHeader, messageIn } from './found-message.ts';

const answerOf = (body: object) => ({ json: <T>(): T => body as T });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const stored = { subject: 's.k', seq: 7, data: base64('ā'), time: '2026-01-01T00:00:00.123456789Z' };

describe('the answer of a stream to a request for one message', () => {
  it('is the message, with its headers as lines', () => {
    const hdrs = base64('NATS/1.0\r\nNats-Msg-Id: a\r\nOther: Nats-Msg-Id: b\r\n\r\n');
    const found = messageIn(answerOf({ message: { ...stored, hdrs } }));
    if (found === undefined) throw new Error('no message');
    const { subject, seq, data, timestamp } = found;
    expect({ subject, seq, text: String(data), timestamp }).toEqual({
      subject: 's.k',
      seq: 7,
      text: 'ā',
      timestamp: stored.time,
    });
    expect(['a', 'b'].map((id) => hasHeader(found, 'Nats-Msg-Id', id))).toEqual([true, false]);
  });

  it('has no headers and no data where the message has none', () => {
    const found = messageIn(answerOf({ message: { subject: 's', seq: 1, time: stored.time } }));
    expect([found?.headers, found?.data.length]).toEqual(['', 0]);
  });

  it('is undefined where the stream has none, and a refusal else', () => {
    expect(messageIn(answerOf({ error: { err_code: errorCodes.noMessage } }))).toBeUndefined();
    expect(() => messageIn(answerOf({ error: { err_code: errorCodes.streamNotFound } }))).toThrow(StreamRefusal);
    expect(() => messageIn(answerOf({}))).toThrow('something else than a message');
  });
});

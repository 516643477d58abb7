import type { Msg } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { storedIn } from './stored-value.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const answering = (value: unknown): Pick<Msg, 'json'> => ({ json: <T>() => value as T });
const found = (more: object) => answering({ message: { seq: 7, ...more } });

/** The real server is asked in nats-bus.test.ts. */
describe('the last message under a key', () => {
  it('has its text and its revision', () => {
    expect(storedIn(found({ data: base64('{"ä":1}') }))).toEqual({ text: '{"ä":1}', revision: 7, isFreed: false });
    expect(storedIn(found({}))).toEqual({ text: '', revision: 7, isFreed: false });
  });

  it.each([
    ['KV-Operation: DEL', true],
    ['KV-Operation: PURGE', true],
    ['Nats-Marker-Reason: MaxAge', true],
    ['Nats-Marker-Reason: Purge', true],
    ['Nats-TTL: 5s', false],
    ['Other-KV-Operation: DEL', false],
  ])('with the header %s is the mark of a freed key: %s', (header, isFreed) => {
    const hdrs = base64(`NATS/1.0\r\nA: b\r\n${header}\r\n\r\n`);
    expect(storedIn(found({ hdrs }))).toMatchObject({ isFreed });
  });

  it('may be none', () => {
    expect(storedIn(answering({ error: { code: 404, err_code: 10_037 } }))).toBeUndefined();
  });

  it.each([
    [{ error: { err_code: 10_059, description: 'stream not found' } }, { name: 'StreamRefusal', code: 10_059 }],
    [{ error: {} }, { name: 'StreamRefusal', message: 'refused' }],
    [{}, { message: 'the server answered something else than a message' }],
    [{ message: {} }, { message: 'the server answered something else than a message' }],
  ])('is not in %j', (value, error) => {
    expect(() => storedIn(answering(value))).toThrow(expect.objectContaining(error));
  });
});

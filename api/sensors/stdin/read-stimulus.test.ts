import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { readStimulus } from './read-stimulus.ts';

const read = (line: string) => readStimulus(Buffer.from(line), 'acme');

describe('STIM-02 STIM-19 a line', () => {
  it.each<[line: string, want: object]>([
    [
      '{"content":"hello"}',
      { source: { kind: 'Stdin', name: 'stdin' }, tenant: 'acme', content: 'hello', headers: {} },
    ],
    ['{"source":"Tickets.EU","content":"x"}', { source: { kind: 'Stdin', name: 'Tickets.EU' } }],
    ['{"content":"{\\"a\\":1}"}', { content: { a: 1 } }],
    ['{"content":{"a":[1,null]}}', { content: { a: [1, null] } }],
    ['{"content":""}', { content: '' }],
    ['{"content":0}', { content: 0 }],
    ['{"content":false}', { content: false }],
    ['{"content":null}', { content: null }],
    ['{"content":{}}', { content: {} }],
    [' {"content" : "Łódź 🚲"} ', { content: 'Łódź 🚲' }],
    ['{"content":"x","idempotency_key":"k"}', { idempotencyKey: 'k' }],
    ['{"content":"x","headers":{"a":"b"}}', { headers: { a: 'b' } }],
  ])('%s is a stimulus', (line, want) => {
    expect(read(line)).toMatchObject(want);
  });

  it('without a key has none', () => {
    expect(read('{"content":"x"}')).not.toHaveProperty('idempotencyKey');
  });

  const key = (length: number): string => JSON.stringify({ content: 'x', idempotency_key: '🚲'.repeat(length) });
  const most = limits.idempotencyKeyLength;

  it.each([most - 1, most])('may have a key of %i characters', (length) => {
    expect(read(key(length))).toHaveProperty('idempotencyKey');
  });

  it.each<[line: string, problem: string]>([
    ['hello', 'it is not JSON that every reader reads alike'],
    ['{"content":"x"', 'it is not JSON that every reader reads alike'],
    ['{"content":"x"} {"content":"y"}', 'it is not JSON that every reader reads alike'],
    ['{"content":"x","content":"y"}', 'it is not JSON that every reader reads alike'],
    ['{"__proto__":{},"content":"x"}', 'it is not JSON that every reader reads alike'],
    ['\ufeff{"content":"x"}', 'it is not JSON that every reader reads alike'],
    ['"content"', 'it is not an object'],
    ['["content"]', 'it is not an object'],
    ['null', 'it is not an object'],
    ['7', 'it is not an object'],
    ['{}', 'content is missing'],
    ['{"content":"x","tenant":"globex"}', 'it has an unknown field'],
    ['{"content":"x","constructor":1}', 'it has an unknown field'],
    ['{"source":"","content":"x"}', 'source is not a valid name of a source'],
    ['{"source":"a/b","content":"x"}', 'source is not a valid name of a source'],
    [`{"source":"${'a'.repeat(64)}","content":"x"}`, 'source is not a valid name of a source'],
    ['{"source":null,"content":"x"}', 'source is not a valid name of a source'],
    ['{"source":1,"content":"x"}', 'source is not a valid name of a source'],
    ['{"content":"x","idempotency_key":""}', 'idempotency_key is not a string of the allowed length'],
    ['{"content":"x","idempotency_key":1}', 'idempotency_key is not a string of the allowed length'],
    ['{"content":"x","idempotency_key":null}', 'idempotency_key is not a string of the allowed length'],
    [key(most + 1), 'idempotency_key is not a string of the allowed length'],
    ['{"content":"x","headers":[]}', 'headers is not a map of strings'],
    ['{"content":"x","headers":null}', 'headers is not a map of strings'],
    ['{"content":"x","headers":{"a":1}}', 'headers is not a map of strings'],
  ])('AMB-051 %.60s is none', (line, problem) => {
    expect(read(line)).toBe(problem);
  });

  it('AMB-051 of bytes that are no text is none', () => {
    expect(readStimulus(Buffer.from([0x22, 0xff, 0x22]), 'acme')).toBe('it is not UTF-8');
  });
});

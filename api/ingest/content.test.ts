import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { contentOfBytes, contentOfText } from './content.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('contentOfText', () => {
  it.each<[text: string, want: unknown]>([
    ['{"a":1}', { a: 1 }],
    ['[1,"b",null]', [1, 'b', null]],
    ['"quoted"', 'quoted'],
    ['true', true],
    ['null', null],
    ['9007199254740991', 9007199254740991],
    [' {"a" : 1}\n', { a: 1 }],
  ])('AMB-041 takes %s as JSON', (text, want) => {
    expect(contentOfText(text)).toEqual(want);
  });

  it.each([
    'The login page is down.',
    '{"a":1',
    '{a:1}',
    '',
    ' ',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '{"id":9007199254740993}',
    '"\\ud800"',
    'NaN',
  ])('AMB-041 keeps %j as text', (text) => {
    expect(contentOfText(text)).toBe(text);
  });

  it('takes 64 levels as JSON and keeps 65 as text', () => {
    expect(contentOfText(nested(64))).toEqual(JSON.parse(nested(64)));
    expect(contentOfText(nested(65))).toBe(nested(65));
  });

  it('survives a text of nothing but brackets', () => {
    const text = '['.repeat(150_000);
    expect(contentOfText(text)).toBe(text);
  });

  it('refuses JSON that would take too much memory, and takes the same as text', () => {
    const objects = Array(300_000).fill('{}').join(',');
    expect(() => contentOfText(`[${objects}]`)).toThrow('send fewer objects');
    expect(contentOfText(objects.slice(1))).toBe(objects.slice(1));
  });

  it('counts bytes, as its message says', () => {
    expect(() => contentOfText('é'.repeat(limits.executionInputBytes / 2 + 1))).toThrow('takes 1048578 bytes');
  });

  it.each([
    ['one byte less', -1],
    ['just as much', 0],
  ])('takes %s than fits', (_what, more) => {
    expect(contentOfText('x'.repeat(limits.executionInputBytes + more))).toHaveLength(
      limits.executionInputBytes + more,
    );
  });

  it('refuses one byte more, before it is parsed', () => {
    const text = 'x'.repeat(limits.executionInputBytes + 1);
    expect(() => contentOfText(text)).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
    expect(() => contentOfBytes(bytes(text))).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  });
});

describe('contentOfBytes', () => {
  it.each<[title: string, type: string | undefined, body: string, want: unknown]>([
    ['JSON', 'application/json', '{"a":"ä"}', { a: 'ä' }],
    ['JSON that curl calls a form', 'application/x-www-form-urlencoded', '{"a":1}', { a: 1 }],
    ['a form', 'application/x-www-form-urlencoded', 'a=1&b=2', 'a=1&b=2'],
    ['XML', 'application/xml', '<a/>', '<a/>'],
    ['text without a type', undefined, 'hello', 'hello'],
    ['nothing', undefined, '', ''],
    ['JSON behind a byte order mark', 'application/json', '\ufeff{"a":1}', { a: 1 }],
    ['text behind a byte order mark, with the mark', 'text/plain', '\ufeffhello', '\ufeffhello'],
    ['broken JSON behind a byte order mark, with the mark', undefined, '\ufeff{"a":', '\ufeff{"a":'],
  ])('STIM-16 takes %s', (_title, type, body, want) => {
    expect(contentOfBytes(bytes(body), type)).toEqual(want);
  });

  it.each([
    ['image/png', 'image/png'],
    [undefined, 'application/octet-stream'],
  ])('STIM-16 keeps every byte of what is no text, of type %s', (type, want) => {
    const body = Uint8Array.from({ length: 256 }, (_, index) => index);
    const content = contentOfBytes(body, type) as { base64: string; content_type: string };
    expect(content.content_type).toBe(want);
    expect(Uint8Array.from(Buffer.from(content.base64, 'base64'))).toEqual(body);
  });

  it('reads a part of a larger buffer as that part', () => {
    const buffer = Buffer.from([65, 0xff, 0xfe, 66]);
    expect(contentOfBytes(buffer.subarray(1, 3))).toMatchObject({
      base64: Buffer.from([0xff, 0xfe]).toString('base64'),
    });
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serialised } from './print-object.ts';

describe('a printed value', () => {
  it.each(['no', 'on', 'y', '1_000', '12:30:45'])(
    'AMB-060 holds the text %s as text for kubectl, which reads YAML 1.1',
    async (text) => {
      const value = { spec: { default_response: text } };
      expect(parse(await serialised(value, 'yaml'), { version: '1.1' })).toEqual(value);
      expect(JSON.parse(await serialised(value, 'json'))).toEqual(value);
    },
  );

  it.each([
    ['a C1 control character', '\u009b31mred'],
    ['a delete', 'a\u007f'],
    ['a mark of direction', 'abc\u202efdp.exe'],
    ['an isolate', '\u2066x'],
    ['a line separator', 'one\u2028two'],
    ['lines', 'one\u009b2J\ntwo\n'],
  ])('holds %s as an escape, in keys as well, and reads as the same', async (_title, text) => {
    const value = { spec: { [text]: text, list: [text], plain: 'no' } };
    for (const format of ['yaml', 'json'] as const) {
      const printed = await serialised(value, format);
      expect(printed).not.toMatch(/[\u007f-\u009f\u2028\u202e\u2066]/);
      expect(format === 'yaml' ? parse(printed, { version: '1.1' }) : JSON.parse(printed)).toEqual(value);
    }
  });

  it('ends without a line feed, in either format', async () => {
    expect(await serialised({ a: [1] }, 'yaml')).toBe('a:\n  - 1');
    expect(await serialised({ a: 1 }, 'json')).toBe('{\n  "a": 1\n}');
  });
});

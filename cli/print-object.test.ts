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

  it('ends without a line feed, in either format', async () => {
    expect(await serialised({ a: [1] }, 'yaml')).toBe('a:\n  - 1');
    expect(await serialised({ a: 1 }, 'json')).toBe('{\n  "a": 1\n}');
  });
});

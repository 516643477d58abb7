import { describe, expect, it } from 'vitest';
import { nested } from '../test/support/nested.ts';
import { jsonText } from './json-text.ts';
import { isTooDeep } from './nesting.ts';

describe('the text of a stored value', () => {
  it.each<[string, unknown]>([
    ['of no depth', { a: 1, b: [undefined, null], c: undefined, at: new Date(0) }],
    ['of 100 levels', { a: nested(100) }],
  ])('%s is that of JSON.stringify', (_title, value) => expect(jsonText(value)).toBe(JSON.stringify(value)));

  it.each([9_000, 10_000])('of %i levels is cut, and the rest of it is whole', (levels) => {
    const value = { name: 'w', deep: { a: nested(levels), b: [1] }, rows: [{ c: nested(levels) }, { d: 'd' }] };
    const shown = JSON.parse(jsonText(value) ?? '') as typeof value;
    expect(shown).toMatchObject({ name: 'w', deep: { b: [1] }, rows: [{}, { d: 'd' }] });
    expect(isTooDeep(shown, 128)).toBe(false);
    expect(jsonText(value)).toContain('(cut: more than 128 levels)');
  });

  it('of a value without one is undefined', () => expect(jsonText(undefined)).toBeUndefined());
});

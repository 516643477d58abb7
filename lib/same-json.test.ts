import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nested } from '../test/support/nested.ts';
import { canonicalJson } from './definition/canonical.ts';
import { sameJson } from './same-json.ts';

describe('two values', () => {
  it.each<[unknown, unknown, boolean]>([
    [{ a: 1, b: [2, null] }, { b: [2, null], a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: undefined }, { b: undefined }, true],
    [{ a: undefined }, { a: null }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: 1 }, { a: 1, b: 1 }, false],
    [{ a: 1, b: 1 }, { a: 1 }, false],
    [[1, 2], [2, 1], false],
    [[1], [1, 1], false],
    [[], {}, false],
    [{ toString: 1 }, {}, false],
    [{}, null, false],
    ['1', 1, false],
  ])('%j and %j are the same: %s', (left, right, want) => expect(sameJson(left, right)).toBe(want));

  it.each([9_000, 10_000])('of %i levels are compared, as kubectl may store such', (levels) => {
    const [one, other] = [nested(levels), nested(levels)];
    expect(sameJson({ a: one }, { a: other })).toBe(true);
    expect(sameJson({ a: one }, { a: nested(levels + 1) })).toBe(false);
  });

  it('are the same exactly when their canonical texts are', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(sameJson(left, right)).toBe(canonicalJson(left) === canonicalJson(right));
        expect(sameJson(left, JSON.parse(JSON.stringify(left)))).toBe(true);
      }),
    );
  });
});

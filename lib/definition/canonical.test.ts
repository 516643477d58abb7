import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nested } from '../../test/support/nested.ts';
import { canonicalHash, canonicalJson } from './canonical.ts';

/** The same content with the keys of every map in the opposite order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, child]) => [key, reordered(child)]),
  );
}

describe('canonical JSON', () => {
  it('does not depend on the order of keys, and says the same as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reordered(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('keeps the order of lists and tells a missing field from null', () => {
    expect(canonicalHash([1, 2])).not.toBe(canonicalHash([2, 1]));
    expect(canonicalHash({ a: null })).not.toBe(canonicalHash({}));
    expect(canonicalHash({ a: undefined })).toBe(canonicalHash({}));
  });

  it('says the same at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const levels of [0, 1, 2]) expect(canonicalJson(value, levels)).toBe(canonicalJson(value));
      }),
    );
    expect(
      canonicalJson(
        [
          { a: undefined, b: undefined },
          { a: undefined, b: 1 },
        ],
        0,
      ),
    ).toBe('[{},{"b":1}]');
  });

  it('needs no stack: the API server stores 10,000 levels', () => {
    const lists = nested(10_000);
    expect(canonicalJson(lists)).toBe(`${'['.repeat(10_000)}${']'.repeat(10_000)}`);
    let objects: object = {};
    for (let level = 1; level < 10_000; level += 1) objects = { a: objects };
    expect(canonicalJson(objects)).toHaveLength('{"a":}'.length * 10_000 - '"a":'.length);
  });

  it('has a hash that never changes', () => {
    expect(canonicalJson({ b: 1, a: [true, null] })).toBe('{"a":[true,null],"b":1}');
    expect(canonicalHash({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});

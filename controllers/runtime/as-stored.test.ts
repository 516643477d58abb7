import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asStored } from './as-stored.ts';

describe('the status that the API server holds after a write', () => {
  const name = fc.constantFrom('a', 'b', 'c/d', '~', '__proto__', 'toString');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(null, undefined, 0, -0, 1e21, Number.NaN, Number.POSITIVE_INFINITY, 'x', 'ä😀', '\\ud800', true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const status = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
  const sent = (object: object): object => JSON.parse(JSON.stringify(object)) as object;

  it('property: is what was sent', () => {
    fc.assert(
      fc.property(status, status, (first, after) => {
        const before = sent(first);
        expect(asStored(before, after)).toStrictEqual(sent(after));
        expect(asStored(undefined, after)).toStrictEqual(sent(after));
        expect(before).toStrictEqual(sent(first));
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps each part that did not change as it was, and none of the values of the decision', () => {
    const before = { blackboard: { large: { a: [1] } }, history: [{ n: 1 }] };
    const [fresh, visit] = [{ b: 2 }, { n: 2 }];
    const after = { blackboard: { ...before.blackboard, fresh }, history: [...before.history, visit] };
    const held = asStored(before, after) as typeof after;
    expect(held).toStrictEqual(after);
    expect(held.blackboard.large).toBe(before.blackboard.large);
    expect(held.history[0]).toBe(before.history[0]);
    expect(held.blackboard.fresh).not.toBe(fresh);
    expect(held.history[1]).not.toBe(visit);
  });

  it.each([
    ['a text', { a: 'x\ud800' }],
    ['a text far below', { a: [{ b: ['\udfff'] }] }],
    ['a name', { 'x\ud83d': 1 }],
    ['a name in a new value', { a: { '\ude00': 1 } }],
  ])('is not foreseen where half a character is in %s, of which the server makes another one', (_where, after) => {
    expect(asStored({}, after)).toBeUndefined();
    expect(asStored(undefined, after)).toBeUndefined();
  });
});

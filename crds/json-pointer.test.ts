import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pointerKeys, pointerOf } from './json-pointer.ts';

it.each([
  ['', []],
  ['/', ['']],
  ['/a~1b/c~0d', ['a/b', 'c~d']],
  ['/~01/0', ['~1', '0']],
])('the pointer %j has the keys %j', (pointer, keys) => {
  expect(pointerKeys(pointer)).toEqual(keys);
});

it('a pointer of any keys leads back to them', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (keys) => {
      expect(pointerKeys(pointerOf(...keys))).toEqual(keys);
    }),
  );
});

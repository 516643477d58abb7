import { expect, it } from 'vitest';
import { growthOf, proportional } from '../test/support/processor-time.ts';
import { withoutTrailingSlashes } from './trailing-slashes.ts';

it.each([
  ['', ''],
  ['/', ''],
  ['///', ''],
  ['/a', '/a'],
  ['/a/', '/a'],
  ['//a//b//', '//a//b'],
])('%j without the slashes at its end is %j', (path, want) => {
  expect(withoutTrailingSlashes(path)).toBe(want);
});

it('slashes before a letter take time in proportion to their number', async () => {
  expect(await growthOf(2_000, (size) => withoutTrailingSlashes(`${'/'.repeat(size)}x`))).toBeLessThan(proportional);
});

import { expect, it } from 'vitest';
import type { BenchCluster } from './bench-cluster.ts';
import { sharedMeasure } from './shared.ts';

const bench = {} as BenchCluster;
const nothing = (): void => undefined;

it('the first row of a run measures, and the others of the same run take what it has found', async () => {
  let measured = 0;
  const shared = sharedMeasure(async () => ++measured);
  const [first, second] = [shared('first'), shared('second')];
  expect([await first(bench, nothing), await first(bench, nothing)]).toEqual([1, 2]);
  expect([await second(bench, nothing), await second(bench, nothing)]).toEqual([1, 2]);
  expect(measured).toBe(2);
});

it('a row that is measured alone measures itself', async () => {
  let measured = 0;
  const shared = sharedMeasure(async () => ++measured);
  shared('first');
  expect(await shared('second')(bench, nothing)).toBe(1);
});

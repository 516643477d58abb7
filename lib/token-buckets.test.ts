import { describe, expect, it } from 'vitest';
import { createTokenBuckets } from './token-buckets.ts';

function world({ keysMax = 10 }: { readonly keysMax?: number } = {}) {
  const time = { now: 1_000_000 };
  const buckets = createTokenBuckets({ nowMs: () => time.now, burst: 3, intervalMs: 2_000, keysMax });
  const taken = (key: string, tries: number): number =>
    Array.from({ length: tries }, () => buckets.take(key)).filter(Boolean).length;
  return { time, buckets, taken };
}

describe('token buckets', () => {
  it('give each key its burst at once, and its pace from then on', () => {
    const { time, buckets, taken } = world();
    expect([taken('a', 5), taken('b', 5)]).toEqual([3, 3]);
    time.now += 1_999;
    expect(buckets.isDue('a')).toBe(false);
    time.now += 1;
    expect(buckets.isDue('a')).toBe(true);
    expect(taken('a', 2)).toBe(1);
  });

  it('never hold more than the burst, however long the rest was', () => {
    const { time, taken } = world();
    taken('a', 3);
    time.now += 3_600_000;
    expect(taken('a', 10)).toBe(3);
  });

  it('take one back that was not used, up to the burst', () => {
    const { buckets, taken } = world();
    buckets.giveBack('a');
    taken('a', 3);
    buckets.giveBack('a');
    expect(taken('a', 2)).toBe(1);
    for (let times = 0; times < 5; times += 1) buckets.giveBack('a');
    expect(taken('a', 10)).toBe(3);
  });

  it('looking whether one is due takes none', () => {
    const { buckets, taken } = world();
    for (let times = 0; times < 5; times += 1) buckets.isDue('a');
    expect(taken('a', 5)).toBe(3);
  });

  it('fill on from where a clock was set back to', () => {
    const { time, taken } = world();
    taken('a', 3);
    time.now -= 600_000;
    expect(taken('a', 1)).toBe(0);
    time.now += 2_000;
    expect(taken('a', 2)).toBe(1);
  });

  it('forget the longest unused key first, which then begins anew', () => {
    const { taken } = world({ keysMax: 2 });
    for (const key of ['a', 'b', 'a', 'c']) taken(key, 3);
    expect([taken('a', 3), taken('b', 3)]).toEqual([0, 3]);
  });
});

it('says how long until one is due, also to the last that was refused', () => {
  let now = 0;
  const buckets = createTokenBuckets({ nowMs: () => now, burst: 2, intervalMs: 60_000, keysMax: 10 });
  expect(buckets.waitMs('a')).toBe(0);
  for (let turn = 0; turn < 3; turn += 1) buckets.take('a');
  expect(buckets.waitMs('a')).toBe(60_000);
  now += 45_000;
  expect(buckets.take('a')).toBe(false);
  expect(buckets.waitMs('a')).toBe(15_000);
  now += 15_000;
  expect(buckets.waitMs('a')).toBe(0);
  expect(buckets.take('a')).toBe(true);
});

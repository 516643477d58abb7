import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryBucket } from './memory-bucket.ts';

const day = 24 * 3_600_000;
const definition = { name: 'keys', ttlMs: day };

describe('a bucket in memory', () => {
  it('AMB-182 gives a key to exactly one of many', async () => {
    const bucket = createMemoryBucket<number>(createManualClock(), definition);
    const revisions = await Promise.all(Array.from({ length: 50 }, (_, index) => bucket.create('k', index, 'acme')));
    expect(revisions.filter((revision) => revision !== undefined)).toHaveLength(1);
    expect(await bucket.get('k')).toMatchObject({ value: 0 });
  });

  it('changes an entry only at the revision that is known', async () => {
    const bucket = createMemoryBucket<string>(createManualClock(), definition);
    const first = (await bucket.create('k', 'a', 'acme')) ?? 0;
    const second = await bucket.update('k', 'b', first);
    expect(second).toBeGreaterThan(first);
    expect(await bucket.update('k', 'c', first)).toBeUndefined();
    await bucket.delete('k', first);
    expect(await bucket.get('k')).toEqual({ value: 'b', revision: second });
    await bucket.delete('k', second ?? 0);
    expect(await bucket.get('k')).toBeUndefined();
    expect(await bucket.create('k', 'd', 'acme')).toBeGreaterThan(second ?? 0);
  });

  it.each([
    [day - 1, false],
    [day, true],
    [day + 1, true],
  ])('frees a key that was written last %i ms ago: %s', async (age, want) => {
    const clock = createManualClock();
    const bucket = createMemoryBucket<string>(clock, definition);
    const revision = (await bucket.create('k', 'a', 'acme')) ?? 0;
    await clock.advance(day / 2);
    await bucket.update('k', 'b', revision);
    await clock.advance(age);
    expect((await bucket.create('k', 'c', 'acme')) !== undefined).toBe(want);
  });

  it.each([
    [1, 'taken'],
    [2, 'taken'],
    [3, 'unavailable'],
  ])('takes two keys of two tenants where it may hold two, and the key %i of another is %s', async (number, want) => {
    const clock = createManualClock();
    const bucket = createMemoryBucket<number>(clock, definition, 2);
    const all: string[] = [];
    for (let index = 1; index <= number; index += 1)
      all.push(
        await bucket.create(`k${index}`, index, `tenant-${index}`).then(
          () => 'taken',
          (error: { code: string }) => error.code,
        ),
      );
    expect(all.at(-1)).toBe(want);
    await clock.advance(day);
    expect(await bucket.create('later', 1, 'acme')).toBeDefined();
  });
});

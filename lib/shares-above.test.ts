import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharesAbove } from './shares-above.ts';

describe('AMB-174 the shares of tenants in the archive', () => {
  it.each<[title: string, usage: Record<string, number>, want: Record<string, number>]>([
    ['no owner loses anything while there is room', { a: 60, b: 40 }, {}],
    ['the larger one comes down to what the smaller one leaves', { a: 90, b: 20 }, { a: 80 }],
    ['two above an equal share come down to it', { a: 70, b: 60 }, { a: 50, b: 50 }],
    ['a small one keeps everything, two large ones share the rest', { a: 500, b: 400, c: 20 }, { a: 40, b: 40 }],
    ['one alone may have everything', { a: 101 }, { a: 100 }],
  ])('%s', (_title, usage, want) => {
    expect(Object.fromEntries(sharesAbove(new Map(Object.entries(usage)), 100))).toEqual(want);
  });

  it('never take from a tenant that has no more than an equal share, and leave no more than the total', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(10_000), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 50_000 }),
        (sizes, total) => {
          const usage = new Map(sizes.map((bytes, index) => [`t${index}`, bytes]));
          const shares = sharesAbove(usage, total);
          const left = [...usage].reduce((sum, [owner, bytes]) => sum + (shares.get(owner) ?? bytes), 0);
          expect(left).toBeLessThanOrEqual(Math.max(total, 0));
          for (const [owner, share] of shares) {
            expect(share).toBeLessThan(usage.get(owner) ?? 0);
            expect(share).toBeGreaterThanOrEqual(Math.floor(total / sizes.length));
          }
        },
      ),
    );
  });
});

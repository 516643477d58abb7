import { describe, expect, it } from 'vitest';
import { createFence, createTenure, sharedTenure, tenureMemory } from './tenure.ts';

describe.each([
  { where: 'of one thread', make: createTenure },
  { where: 'in shared memory', make: () => sharedTenure(tenureMemory()) },
])('a tenure $where', ({ make }) => {
  it('says nothing until a renewal is written, and nothing again once it is taken back', () => {
    const tenure = make();
    expect(tenure.read()).toBeUndefined();
    tenure.write({ steadyAt: 1_234.5, wallAt: 1_767_225_600_000 });
    expect(tenure.read()).toEqual({ steadyAt: 1_234.5, wallAt: 1_767_225_600_000 });
    tenure.write(undefined);
    expect(tenure.read()).toBeUndefined();
  });
});

describe('a reader between the two halves of a write', () => {
  const renewMs = 10_000;
  /** Cells as the writer leaves them, in microseconds and milliseconds; zero is nothing. */
  const cases = [
    { between: 'nothing and a first renewal', steady: 20_000_000n, wall: 0n, leads: false },
    { between: 'a renewal and its withdrawal', steady: 0n, wall: 20_000n, leads: false },
    { between: 'an old renewal and a new one', steady: 20_000_000n, wall: 10_500n, leads: true },
    { between: 'one that has lapsed and a new one', steady: 20_000_000n, wall: 9_999n, leads: false },
  ];
  it.each(cases)('sees of $between the older half: leads $leads', ({ steady, wall, leads }) => {
    const memory = tenureMemory();
    new BigInt64Array(memory).set([steady, wall]);
    const tenure = sharedTenure(memory);
    const fence = createFence({ tenure, clock: { steadyMs: () => 20_000, now: () => 20_000 }, renewMs });
    expect(fence.isLeaderNow()).toBe(leads);
  });
});

it('both clocks must agree that time is left', () => {
  const tenure = createTenure();
  tenure.write({ steadyAt: 0, wallAt: 0 });
  const leads = (steady: number, wall: number): boolean =>
    createFence({ tenure, clock: { steadyMs: () => steady, now: () => wall }, renewMs: 100 }).isLeaderNow();
  expect([leads(99, 99), leads(100, 0), leads(0, 100)]).toEqual([true, false, false]);
});

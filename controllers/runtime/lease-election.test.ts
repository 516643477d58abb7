import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import type { Lease } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createLeaseElection } from './lease-election.ts';
import { durationOf, microTime, newLease, released, renewed, takenOver } from './lease-record.ts';
import { LostLeadership } from './tenure.ts';

const claim = { ref: { namespace: 'windlass-system', name: 'controllers' }, identity: 'pod-a', leaseMs: 15_000 };
const now = Date.parse('2026-01-02T03:04:05.678Z');

describe('the record', () => {
  it('times have the six digits of a MicroTime', () => {
    expect(microTime(now)).toBe('2026-01-02T03:04:05.678000Z');
  });

  it('each change keeps the version it was read with, so that only one of two changes succeeds', () => {
    const held: Lease = {
      metadata: { name: 'controllers', resourceVersion: '7' },
      spec: { holderIdentity: 'b', leaseTransitions: 3 },
    };
    expect(takenOver(held, claim, now)).toMatchObject({
      metadata: { resourceVersion: '7' },
      spec: { holderIdentity: 'pod-a', leaseTransitions: 4, leaseDurationSeconds: 15, acquireTime: microTime(now) },
    });
    expect(renewed(held, now)).toMatchObject({
      metadata: { resourceVersion: '7' },
      spec: { holderIdentity: 'b', leaseTransitions: 3 },
    });
    expect(released(held, now)).toMatchObject({
      metadata: { resourceVersion: '7' },
      spec: { holderIdentity: '', leaseTransitions: 3 },
    });
  });

  it('the duration is the holder’s own', () => {
    expect(durationOf(newLease(claim, now), 1)).toBe(15_000);
    expect(durationOf({ metadata: {} }, 9_000)).toBe(9_000);
  });
});

/**
 * An election whose requests are granted, or get no answer, as the test says. The API server's verdict on
 * competing requests is proven on a real one (test/cluster/runtime.test.ts).
 */
function setUp() {
  const manual = createManualClock(now);
  let slept = 0;
  const clock = {
    now: () => manual.now() + slept,
    steadyMs: () => manual.steadyMs() + frozen,
    sleep: manual.sleep.bind(manual),
  };
  let frozen = 0;
  let reachable = true;
  let version = 1;
  const request = async (lease: Lease): Promise<Lease> => {
    if (!reachable) throw new AppError('unavailable', 'no answer');
    version += 1;
    return { ...lease, metadata: { ...lease.metadata, resourceVersion: String(version) } };
  };
  const client = {
    get: async () => request(released(newLease(claim, now), now)),
    create: async (_: unknown, lease: Lease) => request(lease),
    replace: async (_: unknown, lease: Lease) => request(lease),
  };
  const election = createLeaseElection(
    { client: client as never, clock, logger: silentLogger, random: () => 0.5 },
    { lease: claim.ref, identity: 'pod-a' },
  );
  return {
    election,
    reach: (yes: boolean) => {
      reachable = yes;
    },
    /** Both clocks run, and timers fire. */
    pass: (ms: number) => manual.advance(ms),
    /** The process is stopped: no timer of it fires, the steady clock runs on. */
    freeze: (ms: number) => {
      frozen += ms;
    },
    /** The machine is asleep: only the wall clock shows it afterwards. */
    sleep: (ms: number) => {
      slept += ms;
    },
  };
}

describe('the fence', () => {
  it('is closed before the lease is held and opens with it', async () => {
    const { election, pass } = setUp();
    const stop = new AbortController();
    expect(election.isLeaderNow()).toBe(false);
    expect(() => election.assertLeader()).toThrow(LostLeadership);
    let started = 0;
    const end = election.run(stop.signal, () => {
      started += 1;
    });
    await pass(0);
    expect([election.isLeaderNow(), started]).toEqual([true, 1]);
    stop.abort();
    expect(await end).toBe('stopped');
    expect(election.isLeaderNow()).toBe(false);
  });

  it.each([
    { ms: 9_999, open: true },
    { ms: 10_000, open: false },
    { ms: 10_001, open: false },
    { ms: 40_000, open: false },
  ])('a process stopped for $ms ms may write: $open, before any timer has fired', async ({ ms, open }) => {
    const { election, pass, freeze } = setUp();
    const stop = new AbortController();
    const end = election.run(stop.signal);
    await pass(0);
    freeze(ms);
    expect(election.isLeaderNow()).toBe(open);
    stop.abort();
    await end;
  });

  it.each([
    { ms: 9_999, open: true },
    { ms: 10_000, open: false },
  ])('a machine asleep for $ms ms may write: $open, though the steady clock stood still', async ({ ms, open }) => {
    const { election, pass, sleep } = setUp();
    const stop = new AbortController();
    const end = election.run(stop.signal);
    await pass(0);
    sleep(ms);
    expect(election.isLeaderNow()).toBe(open);
    stop.abort();
    await end;
  });

  it('closes ten seconds after the last renewal that was answered, and opens again when one is', async () => {
    const { election, pass, reach } = setUp();
    const stop = new AbortController();
    const end = election.run(stop.signal);
    await pass(2_000);
    reach(false);
    await pass(9_999);
    expect(election.isLeaderNow()).toBe(true);
    await pass(1);
    expect(election.isLeaderNow()).toBe(false);
    await pass(110_000);
    expect(election.isLeaderNow()).toBe(false);
    reach(true);
    await pass(2_000);
    expect(election.isLeaderNow()).toBe(true);
    stop.abort();
    expect(await end).toBe('stopped');
  });
});

it.each([
  { leaseMs: 10_000, renewMs: 10_000, retryMs: 2_000 },
  { leaseMs: 15_000, renewMs: 2_000, retryMs: 2_000 },
])('timings that leave no margin are refused: %o', (timing) => {
  const clock = createManualClock();
  const create = () =>
    createLeaseElection(
      { client: {} as never, clock, logger: silentLogger },
      { lease: claim.ref, identity: 'a', ...timing },
    );
  expect(create).toThrow(RangeError);
});

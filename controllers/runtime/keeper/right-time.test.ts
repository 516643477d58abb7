import { expect, it } from 'vitest';
import type { Lease } from '../../../lib/kube/index.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { createLeaseElection } from '../lease-election.ts';
import { createRightTime } from './right-time.ts';

const begin = Date.parse('2026-01-02T03:04:05Z');

/** An election against a server that grants each request; its answers tell a time that is off by as much as the test says. */
function setUp(offMs: number) {
  const clock = createManualClock(begin);
  const errors: unknown[] = [];
  const time = createRightTime({
    logger: { ...silentLogger, error: (fields: unknown) => void errors.push(fields) },
  });
  const server = { offMs, measured: 0, leaseRequests: 0 };
  const tell = (): void => {
    const now = clock.now();
    time.observe(new Date(now + server.offMs).toUTCString(), now, now);
  };
  const measure = async (): Promise<void> => {
    server.measured += 1;
    tell();
  };
  const request = async (lease: Lease): Promise<Lease> => {
    server.leaseRequests += 1;
    tell();
    return { ...lease, metadata: { ...lease.metadata, resourceVersion: '2' } };
  };
  const client = {
    get: async () => request({ metadata: { name: 'controllers' }, spec: { holderIdentity: '' } }),
    replace: async (_: unknown, lease: Lease) => request(lease),
  };
  const election = createLeaseElection(
    {
      client: client as never,
      clock,
      logger: silentLogger,
      random: () => 0.5,
      isAlive: () => time.isRight(measure),
    },
    { lease: { namespace: 'windlass-system', name: 'controllers' }, identity: 'pod-a' },
  );
  return { clock, time, tell, server, election, errors };
}

it('one answer with a wrong date, and then right ones: the Lease is taken, and nothing is said', async () => {
  const { clock, tell, server, election, errors } = setUp(9_000);
  tell();
  server.offMs = 0;
  const stop = new AbortController();
  const end = election.run(stop.signal);
  await clock.advance(2_000);
  expect([election.isLeaderNow(), errors]).toEqual([true, []]);
  stop.abort();
  expect(await end).toBe('stopped');
});

it('a replica whose clock is wrong asks for no Lease, measures again at each retry, and leads once the clock is right', async () => {
  const { clock, tell, server, election, errors } = setUp(-9_000);
  tell();
  const stop = new AbortController();
  const end = election.run(stop.signal);
  await clock.advance(60_000);
  expect(server.leaseRequests).toBe(0);
  expect([server.measured, errors.length]).toEqual([31, 1]);
  server.offMs = 0;
  await clock.advance(4_000);
  expect(election.isLeaderNow()).toBe(true);
  stop.abort();
  await end;
});

it('a leader with a wrong clock stops leading within ten seconds, and leads again when it is right', async () => {
  const { clock, server, election } = setUp(0);
  const stop = new AbortController();
  const end = election.run(stop.signal);
  await clock.advance(2_000);
  server.offMs = 9_000;
  await clock.advance(14_000);
  expect(election.isLeaderNow()).toBe(false);
  server.offMs = 0;
  await clock.advance(4_000);
  expect(election.isLeaderNow()).toBe(true);
  stop.abort();
  expect(await end).toBe('stopped');
});

it('asks one at a time, and again after an answer that never came', async () => {
  const { time, tell } = setUp(9_000);
  tell();
  let asked = 0;
  const first = Promise.withResolvers<void>();
  const measure = (): Promise<void> => {
    asked += 1;
    return first.promise;
  };
  expect([time.isRight(measure), time.isRight(measure), asked]).toEqual([false, false, 1]);
  first.reject(new Error('no answer'));
  await new Promise((resolve) => setImmediate(resolve));
  expect([time.isRight(measure), asked]).toEqual([false, 2]);
});

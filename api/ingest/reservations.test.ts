import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createWithinMs, leaseMs, type KeyReservation } from './reservation.ts';
import { type Acquired, ContestedKeyError, createReservations, type Hold, type Reservations } from './reservations.ts';

/** On a real nats-server: what two replicas agree on is what the server says. */
let nats: TestBus;
let offset = 0;
const clock = { ...systemClock, now: () => Date.now() + offset };
/** The executions that exist, by the stimulus that started them. */
const executions = new Map<string, string>();
let number = 0;
const newKey = (): string => `key-${++number}`;

beforeAll(async () => {
  nats = await startTestBus();
}, 300_000);

afterEach(async () => {
  offset = 0;
  executions.clear();
  await nats.server.start();
});

afterAll(() => nats.stop());

/** One replica with a connection of its own, which is there. */
async function aReplica(ttlMs = 3_600_000): Promise<Reservations> {
  const bucket = (await nats.connected()).bucket<KeyReservation>({ name: `reservations-${ttlMs}`, ttlMs });
  return createReservations({ bucket, clock, findExecution: async (_namespace, id) => executions.get(id) });
}

const acquire = (replica: Reservations, key: string, stimulusId: string): Promise<Acquired> =>
  replica.acquire({ key, namespace: 'tenant-acme', stimulusId });

async function hold(replica: Reservations, key: string, stimulusId: string): Promise<Hold> {
  const acquired = await acquire(replica, key, stimulusId);
  if (acquired.kind !== 'held') throw new Error(`the key belongs to ${acquired.originalStimulusId}`);
  return acquired.hold;
}

const duplicateOf = (originalStimulusId: string): Acquired => ({ kind: 'duplicate', originalStimulusId });

describe('a key', () => {
  it('AMB-049 STIM-36 belongs to one of 200 submissions to two replicas, and the others are its duplicates', async () => {
    const replicas = [await aReplica(), await aReplica()];
    const key = newKey();
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const replica = replicas[index % 2] as Reservations;
        const acquired = await acquire(replica, key, `s${index}`);
        if (acquired.kind === 'held') await replica.settle(acquired.hold, 'execution');
        return acquired;
      }),
    );
    const [winner, ...others] = results.filter(({ kind }) => kind === 'held');
    expect(others).toEqual([]);
    const original = winner?.kind === 'held' ? winner.hold.stimulusId : '';
    expect(results.filter(({ kind }) => kind === 'duplicate')).toEqual(
      Array.from({ length: 199 }, () => duplicateOf(original)),
    );
  });

  it('AMB-047 is free again once it was released, for exactly one of those who wait', async () => {
    const [first, second] = [await aReplica(), await aReplica()];
    const key = newKey();
    const held = await hold(first, key, 'refused');
    const waiting = ['a', 'b', 'c'].map((id) => acquire(second, key, id));
    await first.release(held);
    const winner = await Promise.race(waiting);
    expect(winner.kind).toBe('held');
    if (winner.kind === 'held') await second.settle(winner.hold, 'execution');
    const kinds = (await Promise.all(waiting)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['duplicate', 'duplicate', 'held']);
  });

  it('STIM-36 runs again when its time is over', async () => {
    const replica = await aReplica(1_000);
    const key = newKey();
    await replica.settle(await hold(replica, key, 'first'), 'execution');
    expect(await acquire(replica, key, 'second')).toEqual(duplicateOf('first'));
    await systemClock.sleep(1_500);
    expect((await hold(replica, key, 'third')).stimulusId).toBe('third');
  });

  it('is refused with 503 at once while the store is away, and works when it is back', async () => {
    const replica = await aReplica();
    const key = newKey();
    await hold(replica, newKey(), 'warm');
    await nats.server.kill();
    const start = Date.now();
    await expect(acquire(replica, key, 'first')).rejects.toMatchObject({ code: 'unavailable' });
    expect(Date.now() - start).toBeLessThan(4_000);
    await nats.server.start();
    await expect
      .poll(() => acquire(replica, key, 'second').catch(() => undefined), { timeout: 15_000 })
      .toMatchObject({ kind: 'held' });
  });
});

describe('a replica that died', () => {
  it('before it created the execution: the key is contested until the lease ends, then taken over under the same id', async () => {
    const [dead, alive] = [await aReplica(), await aReplica()];
    const key = newKey();
    await hold(dead, key, 'original');
    offset = leaseMs - 5_000;
    const refused = acquire(alive, key, 'retry');
    await expect(refused).rejects.toBeInstanceOf(ContestedKeyError);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    const { retryAfterMs } = (await refused.catch((error: unknown) => error)) as ContestedKeyError;
    expect(retryAfterMs).toBeGreaterThan(2_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_100);
    offset = leaseMs;
    expect((await hold(alive, key, 'retry')).stimulusId).toBe('original');
  });

  it('after it created the execution: the next attempt is a duplicate without waiting for the lease', async () => {
    const [dead, alive] = [await aReplica(), await aReplica()];
    const key = newKey();
    await hold(dead, key, 'original');
    executions.set('original', 'execution');
    expect(await acquire(alive, key, 'retry')).toEqual(duplicateOf('original'));
    // Its existence is noted: deleting it does not make the key free.
    executions.clear();
    offset = leaseMs * 2;
    expect(await acquire(alive, key, 'another')).toEqual(duplicateOf('original'));
  });

  it('and is followed by many: one of them takes over', async () => {
    const key = newKey();
    await hold(await aReplica(), key, 'original');
    offset = leaseMs;
    const replicas = [await aReplica(), await aReplica()];
    const attempts = Array.from({ length: 50 }, async (_, index) => {
      const replica = replicas[index % 2] as Reservations;
      const acquired = await acquire(replica, key, `retry-${index}`);
      if (acquired.kind === 'held') await replica.settle(acquired.hold, 'execution');
      return acquired;
    });
    const kinds = (await Promise.all(attempts)).map((acquired) =>
      acquired.kind === 'held' ? `held ${acquired.hold.stimulusId}` : `duplicate ${acquired.originalStimulusId}`,
    );
    expect(kinds.filter((kind) => kind === 'held original')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'duplicate original')).toHaveLength(49);
  });

  it('and only slept cannot release or settle what was taken over from it', async () => {
    const [slow, quick] = [await aReplica(), await aReplica()];
    const key = newKey();
    const stale = await hold(slow, key, 'original');
    offset = leaseMs;
    const held = await hold(quick, key, 'retry');
    await slow.release(stale);
    await slow.settle(stale, 'another execution');
    await quick.settle(held, 'execution');
    expect(await acquire(slow, key, 'later')).toEqual(duplicateOf('original'));
  });
});

describe('renewing', () => {
  it('costs nothing while there is time to create, and the lease begins anew after that', async () => {
    const replica = await aReplica();
    const key = newKey();
    const held = await hold(replica, key, 'original');
    offset = createWithinMs - 1_000;
    expect(await replica.renew(held)).toBe(held);
    offset = createWithinMs + 1;
    const renewed = await replica.renew(held);
    expect(renewed.revision).toBeGreaterThan(held.revision);
    offset = leaseMs + 1_000;
    await expect(acquire(await aReplica(), key, 'retry')).rejects.toBeInstanceOf(ContestedKeyError);
  });

  it('tells a replica that slept that another one is at work', async () => {
    const slow = await aReplica();
    const key = newKey();
    const stale = await hold(slow, key, 'original');
    offset = leaseMs;
    await hold(await aReplica(), key, 'retry');
    await expect(slow.renew(stale)).rejects.toBeInstanceOf(ContestedKeyError);
  });
});

describe('a sender that leaves', () => {
  it('while it waits for another submission is let go', async () => {
    const key = newKey();
    await hold(await aReplica(), key, 'original');
    const leave = new AbortController();
    const waiting = (await aReplica()).acquire({ key, namespace: 'n', stimulusId: 's', signal: leave.signal });
    leave.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { KeyValueBucket } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { KeyReservation } from './reservation.ts';
import { createReservations, type Hold } from './reservations.ts';
import { createSettler, type Settler } from './settler.ts';

/** On a real nats-server, as the reservations. */
let nats: TestBus;
let bucket: KeyValueBucket<KeyReservation>;
let settler: Settler;
const stopped = new AbortController();
let running: Promise<void>;
let number = 0;
const patient = { timeout: 15_000 };

const reservationsOf = (store: KeyValueBucket<KeyReservation>) =>
  createReservations({ bucket: store, clock: systemClock, findExecution: async () => undefined });

beforeAll(async () => {
  nats = await startTestBus();
  bucket = nats.connect().bucket<KeyReservation>({ name: 'settler', ttlMs: 3_600_000 });
  settler = newSettler();
  running = settler.run(stopped.signal);
}, 300_000);

afterAll(async () => {
  stopped.abort();
  await running;
  await nats.stop();
});

const methodsOf = (store: KeyValueBucket<KeyReservation>): KeyValueBucket<KeyReservation> => ({
  get: (key) => store.get(key),
  create: (key, value, tenant) => store.create(key, value, tenant),
  update: (key, value, revision) => store.update(key, value, revision),
  note: (key, value, revision) => store.note(key, value, revision),
  roomFor: (tenant, keys) => store.roomFor(tenant, keys),
  delete: (key, revision) => store.delete(key, revision),
});

/** A reserved key. */
async function aHold(): Promise<Hold> {
  const key = `key-${++number}`;
  const acquired = await reservationsOf(bucket).acquire({ key, namespace: 'n', stimulusId: `s-${key}` });
  if (acquired.kind !== 'held') throw new Error('taken');
  return acquired.hold;
}

const stateOf = async ({ key }: Hold): Promise<string | undefined> => {
  const entry = await bucket.get(key);
  return entry === undefined ? undefined : `${entry.value.state} ${entry.value.workflow_execution_id}`;
};

function executionOf(hold: Hold, ageMs: number): WorkflowExecution {
  const execution = anExecution().build();
  return {
    ...execution,
    metadata: {
      ...execution.metadata,
      uid: 'found',
      creationTimestamp: new Date(Date.now() - ageMs).toISOString(),
      labels: { 'windlass.dev/stimulus': hold.stimulusId },
      annotations: { 'windlass.dev/reservation': hold.key },
    },
  };
}

const newSettler = (store: Partial<KeyValueBucket<KeyReservation>> = {}): Settler => {
  const used = { ...methodsOf(bucket), ...store };
  return createSettler({ bucket: used, reservations: reservationsOf(used), clock: systemClock, logger: silentLogger });
};

describe('a reservation', () => {
  it('is settled when its submission continues', async () => {
    const hold = await aHold();
    await settler.settle(hold, 'e');
    expect(await stateOf(hold)).toBe('routed e');
  });

  it.each([1, 63, 64, 65, 200])('and %i more that come at once are settled', async (more) => {
    const holds = await Promise.all(Array.from({ length: more + 1 }, aHold));
    await Promise.all(holds.map((hold) => settler.settle(hold, hold.stimulusId)));
    expect(await Promise.all(holds.map(stateOf))).toEqual(holds.map(({ stimulusId }) => `routed ${stimulusId}`));
  });

  it('is settled when the store is back, and no submission waits for that', async () => {
    const hold = await aHold();
    await nats.server.kill();
    await settler.settle(hold, 'e');
    await nats.server.start();
    await expect.poll(() => stateOf(hold).catch(() => undefined), patient).toBe('routed e');
  });

  it('that waits when the process stops is settled before it ends', async () => {
    const stopping = newSettler();
    const holds = await Promise.all(Array.from({ length: 130 }, aHold));
    for (const hold of holds) void stopping.settle(hold, 'e');
    await stopping.run(AbortSignal.abort());
    expect(new Set(await Promise.all(holds.map(stateOf)))).toEqual(new Set(['routed e']));
  });

  it('that the store does not take when the process stops holds nothing up', async () => {
    let asked = 0;
    const update = async (): Promise<never> => {
      asked += 1;
      throw new Error('away');
    };
    const stopping = newSettler({ update });
    void stopping.settle(await aHold(), 'e');
    await stopping.run(AbortSignal.abort());
    expect(asked).toBe(1);
  });

  it('that is taken over while its note is under way gets the note of the one who took it', async () => {
    const hold = await aHold();
    const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const update: typeof bucket.update = async (key, value, revision) => {
      if (value.workflow_execution_id !== 'old') return bucket.update(key, value, revision);
      started.resolve();
      await released.promise;
      return undefined;
    };
    const slow = newSettler({ update });
    const stop = new AbortController();
    const done = slow.run(stop.signal);
    const first = slow.settle(hold, 'old');
    await started.promise;
    const second = slow.settle({ ...hold, stimulusId: 'another' }, 'new');
    released.resolve();
    await Promise.all([first, second]);
    expect(await stateOf(hold)).toBe('routed new');
    stop.abort();
    await done;
  });

  it('of an execution whose replica died is settled by the next one', async () => {
    const hold = await aHold();
    settler.resume([executionOf(hold, 60_000)]);
    await expect.poll(() => stateOf(hold), patient).toBe('routed found');
  });

  it('is left alone where the execution is old, or another stimulus has the key', async () => {
    const [old, others, last] = [await aHold(), await aHold(), await aHold()];
    const foreign = { ...others, stimulusId: 'another' };
    settler.resume([executionOf(old, 3_600_000), executionOf(foreign, 0), anExecution().build(), executionOf(last, 0)]);
    await expect.poll(() => stateOf(last), patient).toBe('routed found');
    expect(await stateOf(old)).toBe('reserved undefined');
    expect(await stateOf(others)).toBe('reserved undefined');
  });
});

import { createHash, randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIngest } from '../../api/ingest/create-ingest.ts';
import type { Routing } from '../../api/ingest/decide-route.ts';
import { createDeliveries, type AcceptedDelivery } from '../../api/ingest/deliveries.ts';
import type { Ingest, Submission } from '../../api/ingest/ingest.ts';
import { type KeyReservation, reservationKey } from '../../api/ingest/reservation.ts';
import { createReservations, type Reservations } from '../../api/ingest/reservations.ts';
import { limits } from '../../crds/limits.ts';
import { buckets, type EventBus, ShareUsedError } from '../../lib/bus/index.ts';
import { blockUseMs } from '../../lib/bus/kv/key-accounts.ts';
import { systemClock } from '../../lib/clock.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * 1 MiB for keys, 300 bytes each and 64 in a block, makes 54 blocks; a tenant alone has 43 of them, as on a server
 * with a thousand times as much.
 */
const share = 43 * 64;

/** The attacker may send stimuli of her tenant with as many idempotency keys as she likes, to every replica of the API. */
describe('Mallory and the idempotency keys that all tenants store in NATS', () => {
  let test: TestBus;
  let replicas: { readonly bus: EventBus; readonly reservations: Reservations }[];

  beforeAll(async () => {
    test = await startTestBus();
    replicas = [1, 2].map(() => {
      const bus = test.connect({ WINDLASS_KEYS_MAX_MB: 1 });
      const bucket = bus.bucket<KeyReservation>(buckets.idempotency);
      return {
        bus,
        reservations: createReservations({ bucket, clock: systemClock, findExecution: async () => undefined }),
      };
    });
    for (const { bus } of replicas) while (bus.problem() !== undefined) await systemClock.sleep(10);
  }, 300_000);
  afterAll(() => test?.stop());

  const send = (namespace: string, key: number, replica = 0) => {
    const { reservations } = replicas[replica] ?? {};
    if (reservations === undefined) throw new Error('there are two replicas');
    return reservations.acquire({ key: `${namespace}/${key}`, namespace, stimulusId: `s-${key}` });
  };

  async function state(stream: string) {
    const connection = await connect({ servers: test.server.url });
    const { state: found } = await (await jetstreamManager(connection)).streams.info(stream);
    await connection.close();
    return found;
  }

  it('STIM-36 she has her share and not one more, on all replicas together', async () => {
    await Promise.all(Array.from({ length: share - 1 }, (_, key) => send('mallory', key)));
    expect(await send('mallory', share - 1)).toMatchObject({ kind: 'held' });
    for (const replica of [0, 1]) {
      const refused = await send('mallory', share, replica).catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: 'ShareUsedError', code: 'limit_exceeded', reason: 'KeyShareUsed' });
      const { retryAfterMs = 0 } = refused instanceof ShareUsedError ? refused : {};
      const day = limits.idempotencySeconds * 1_000;
      expect(retryAfterMs).toBeGreaterThan(day - 60_000);
      expect(retryAfterMs).toBeLessThan(day + blockUseMs + 1);
    }
  }, 60_000);

  it('Ada of another tenant is served beside her, and a third one beside both', async () => {
    for (let key = 0; key < 130; key += 1) expect(await send('ada', key, key % 2)).toMatchObject({ kind: 'held' });
    expect(await send('grace', 0)).toMatchObject({ kind: 'held' });
    await expect(send('mallory', share)).rejects.toMatchObject({ reason: 'KeyShareUsed' });
  });

  it('an earlier duplicate is one still, and costs no tenant a key', async () => {
    const before = await state('WINDLASS_KEYS_idempotency');
    const { reservations } = replicas[0] ?? { reservations: undefined };
    const first = await send('linus', 0, 0);
    if (first?.kind === 'held') await reservations?.settle(first.hold, 'e');
    for (let time = 0; time < 200; time += 1) expect(await send('linus', 0, 0)).toMatchObject({ kind: 'duplicate' });
    expect((await state('WINDLASS_KEYS_idempotency')).messages).toBe(before.messages + 1);
  });

  it('AMB-047 a key that is freed leaves nothing in the store after seconds, and is free at once', async () => {
    const { reservations } = replicas[1] ?? { reservations: undefined };
    const before = await state('KV_windlass_idempotency');
    for (let key = 0; key < 60; key += 1) {
      const acquired = await send('barbara', key, 1);
      if (acquired?.kind === 'held') await reservations?.release(acquired.hold);
    }
    const again = await send('barbara', 0, 1);
    expect(again).toMatchObject({ kind: 'held' });
    if (again?.kind === 'held') await reservations?.release(again.hold);
    await expect
      .poll(async () => (await state('KV_windlass_idempotency')).messages, { timeout: 20_000 })
      .toBe(before.messages);
  }, 60_000);

  it.each([
    ['without a route', {}, 'no_router_configured', 'StimulusRejected'],
    ['for a router agent that cannot run', { routerAgent: 'a' }, 'classification_failed', 'ClassificationFailed'],
    ['for a workflow that is not there', { workflow: 'gone' }, 'workflow_error', 'StimulusClassified'],
  ])(
    'stimuli %s leave no key in the store, no block on an account, and one event each',
    async (_what, routing, outcome, type) => {
      const before = [await state('KV_windlass_idempotency'), await state('WINDLASS_KEYS_idempotency')];
      const raised: string[] = [];
      const ingest = ingestOf(routing, raised);
      for (let key = 0; key < 20; key += 1)
        await expect(ingest(submission(`${type}-${key}`))).rejects.toMatchObject({ outcome });
      const after = [await state('KV_windlass_idempotency'), await state('WINDLASS_KEYS_idempotency')];
      expect(after.map(({ last_seq }) => last_seq)).toEqual(before.map(({ last_seq }) => last_seq));
      expect(raised).toEqual(Array.from({ length: 20 }, () => type));
    },
  );

  it('STIM-31 what ran before is a duplicate still where its route is gone', async () => {
    const key = reservationKey('grace', 'tickets', 'ran');
    const [{ reservations }] = replicas as [(typeof replicas)[number]];
    const acquired = await reservations.acquire({ key, namespace: 'grace', stimulusId: 's-ran' });
    if (acquired.kind === 'held') await reservations.settle(acquired.hold, 'e');
    await expect(ingestOf({}, [])(submission('ran'))).rejects.toMatchObject({
      outcome: 'idempotent_duplicate',
      originalStimulusId: 's-ran',
    });
  });

  const submission = (idempotencyKey: string): Submission => ({
    source: { kind: 'HttpApi', name: 'tickets' },
    tenant: 'grace',
    content: 'x',
    headers: {},
    receivedAt: 0,
    idempotencyKey,
    signed: { signature: createHash('sha256').update(idempotencyKey).digest('hex'), isBound: false },
  });

  function ingestOf(routing: Partial<Routing>, raised: string[]): Ingest {
    const [{ reservations, bus }] = replicas as [(typeof replicas)[number]];
    const never = (): never => {
      throw new Error('it must not be asked');
    };
    return createIngest({
      kube: { create: never, get: never },
      clock: systemClock,
      logger: silentLogger,
      newStimulusId: randomUUID,
      table: {
        find: async () => ({ tenant: 'grace', namespace: 'grace', routing: { confidenceThreshold: 0.7, ...routing } }),
        tenantOf: never,
      },
      workflows: { find: async () => undefined },
      executions: { remember: never },
      reservations,
      deliveries: createDeliveries(bus.bucket<AcceptedDelivery>(buckets.idempotency)),
      settler: { settle: never, resume: never, run: never },
      events: { raise: ({ type }) => void raised.push(type) },
    });
  }
});

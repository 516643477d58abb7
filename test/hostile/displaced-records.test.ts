import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditTopic, type BusEvent, type EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { type NatsServer, startNatsServer } from '../nats/nats-server.ts';
import { eventsOf } from '../nats/installed-nats.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';

/** Streams of 1 MiB, and messages of some 500 bytes. */
const small = { WINDLASS_EVENTS_MAX_MB: 1, WINDLASS_AUDIT_MAX_MB: 1 };

/** The attacker has a token of her tenant and acts as often as she likes, to push out what the streams hold of others. */
describe('tenants that publish many times what a stream holds', () => {
  let test: TestBus;
  let bus: EventBus;

  beforeAll(async () => {
    test = await startTestBus();
    bus = test.connect(small);
    while (bus.problem() !== undefined) await systemClock.sleep(10);
  }, 300_000);
  afterAll(() => test?.stop());

  const anEvent = (tenant: string, topic: string, subject: string): BusEvent => ({
    id: randomUUID(),
    topic,
    source: 'api',
    type: 'ExecutionStarted',
    subject,
    tenant,
    time: '2026-01-01T00:00:00Z',
    data: { actor: 'mallory', execution: 'x'.repeat(100) },
  });

  async function flood(tenants: readonly string[], topic: string, messages: number): Promise<void> {
    for (let sent = 0; sent < messages; sent += 100) {
      const batch = Array.from({ length: 100 }, (_, index) =>
        anEvent(tenants[index % tenants.length] ?? '', topic, 'x'),
      );
      await Promise.all(batch.map((event) => bus.publish(event)));
    }
  }

  it.each([
    [auditTopic, 'WINDLASS_AUDIT', (tenant: string) => `windlass.audit.${tenant}`],
    ['stimulus', 'WINDLASS_EVENTS', (tenant: string) => `windlass.events.${tenant}.stimulus`],
  ])(
    'displace their own records of the topic %s only',
    async (topic, stream, subjectFor) => {
      const subjectsOf = async (tenant: string) =>
        (await eventsOf(test.server, stream, subjectFor(tenant))).map(({ subject }) => subject);
      await bus.publish(anEvent('ada', topic, 'first'));
      for (let act = 0; act < 200; act += 1) await bus.publish(anEvent('grace', topic, `act-${act}`));
      await flood(['mallory'], topic, 8_000);
      expect(await subjectsOf('ada')).toEqual(['first']);
      expect((await subjectsOf('mallory')).length).toBeGreaterThan(1_000);
      await flood(['mallory', 'trudy', 'eve'], topic, 9_000);
      expect(await subjectsOf('ada')).toEqual(['first']);
      const kept = await subjectsOf('grace');
      expect([kept.length, kept[0], kept.at(-1)]).toEqual([200, 'act-0', 'act-199']);
    },
    120_000,
  );
});

it('streams of an older version get shares in place, and lose only parts of the largest', async () => {
  const server = await startNatsServer();
  const test = await upgraded(server);
  try {
    const kept = await eventsOf(server, 'WINDLASS_AUDIT', 'windlass.audit.ada');
    expect(kept).toEqual([{ first: true }]);
    const connection = await connect({ servers: server.url });
    const { config, state } = await (await jetstreamManager(connection)).streams.info('WINDLASS_AUDIT');
    await connection.close();
    expect(config.max_msgs_per_subject).toBeGreaterThan(0);
    expect(state.bytes).toBeLessThan(0.85 * 1_048_576);
  } finally {
    await test.stop();
    await server.stop();
  }
}, 120_000);

/** A stream as it was before there were shares, full of the attacker's records, and a process of this version. */
async function upgraded(server: NatsServer): Promise<TestBus> {
  const connection = await connect({ servers: server.url });
  const { streams } = await jetstreamManager(connection);
  const audit = { name: 'WINDLASS_AUDIT', subjects: ['windlass.audit.>'], deny_delete: true, deny_purge: true };
  await streams.add({ ...audit, max_bytes: 1_048_576 });
  await connection.request('windlass.audit.ada', '{"first":true}');
  const large = JSON.stringify({ text: 'x'.repeat(1_000) });
  for (let act = 0; act < 900; act += 1) await connection.request('windlass.audit.mallory', large);
  await connection.close();
  const test = await startTestBus();
  const bus = test.connect({ ...small, WINDLASS_NATS_URL: server.url });
  while (bus.problem() !== undefined) await systemClock.sleep(10);
  return test;
}

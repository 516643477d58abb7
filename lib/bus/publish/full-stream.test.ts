import { DiscardPolicy, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import type { BusEvent } from '../event-bus.ts';

const [audit, events] = ['WINDLASS_AUDIT', 'WINDLASS_EVENTS'];
const patience = { timeout: 60_000 };

let nats: TestBus;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  nats = await startTestBus();
  connection = await connect({ servers: nats.server.url });
  manager = await jetstreamManager(connection);
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});

const anEvent = (topic: string, number: number): BusEvent => ({
  id: `${topic}-${number}`,
  topic,
  source: 'api',
  type: 'WorkflowRegistered',
  subject: `w-${number}`,
  tenant: 'acme',
  time: '2026-01-01T00:00:00Z',
  data: { text: 'x'.repeat(200) },
});

const storedIn = async (stream: string): Promise<number> => (await manager.streams.info(stream)).state.messages;

it('a stream without room holds up no event of the other one; the log names it, and what waits is stored later', async () => {
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (fields: object, message: string) => void warned.push([message, fields]) };
  const bus = nats.connect({}, { logger });
  await expect.poll(() => bus.problem(), patience).toBeUndefined();
  await manager.streams.update(audit, { max_bytes: 1_000, discard: DiscardPolicy.New });
  for (let number = 0; number < 80; number += 1) bus.raise(anEvent('audit', number));
  for (let number = 0; number < 20; number += 1) bus.raise(anEvent('workflow', number));
  await expect.poll(() => storedIn(events), patience).toBe(20);
  expect(await storedIn(audit)).toBeLessThan(80);
  const logged = ['event stream takes no events, they wait', expect.objectContaining({ stream: audit })];
  await expect.poll(() => warned, patience).toContainEqual(logged);
  await manager.streams.update(audit, { max_bytes: 64_000_000, discard: DiscardPolicy.Old });
  await expect.poll(() => storedIn(audit), patience).toBe(80);
});

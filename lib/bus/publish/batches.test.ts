import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../test/cluster/harness/free-port.ts';
import { type NatsServer, startNatsServer } from '../../../test/nats/nats-server.ts';
import { systemClock } from '../../clock.ts';
import { createBatches } from './batches.ts';

/** Batches of streams on the real server. */
let server: NatsServer;
let connection: NatsConnection;
let pages: string;
beforeAll(async () => {
  const port = await freePort();
  pages = `http://127.0.0.1:${port}`;
  server = await startNatsServer({ args: ['--http_port', String(port)] });
  connection = await connect({ servers: server.url });
}, 300_000);
afterAll(async () => {
  await connection.close();
  await server.stop();
});

async function batchesOf(name: string, isDirect: boolean) {
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name, subjects: [`${name}.>`], allow_direct: isDirect });
  const client = manager.jetstream();
  for (let index = 0; index < 5; index += 1) await client.publish(`${name}.${index % 2}`, new Uint8Array(1_000));
  let asked = 0;
  const getBatch: typeof manager.direct.getBatch = (...query) => {
    asked += 1;
    return manager.direct.getBatch(...query);
  };
  let passedMs = 0;
  const clock = { ...systemClock, steadyMs: () => systemClock.steadyMs() + passedMs };
  const batch = createBatches({ direct: { getBatch }, clock, waitMs: 5_000 });
  const read = async (after: number, most = 256, bytes = 100_000) =>
    (await batch(name, `${name}.0`, { after, most, bytes })).map(({ seq }) => seq);
  const pass = (ms: number): void => void (passedMs += ms);
  return { read, pass, asked: () => asked };
}

it('a batch has the messages of a subject behind a place, up to a count or about so many bytes', async () => {
  const { read } = await batchesOf('direct', true);
  expect(await read(0)).toEqual([1, 3, 5]);
  expect(await read(1)).toEqual([3, 5]);
  expect(await read(0, 2)).toEqual([1, 3]);
  expect(await read(0, 256, 1_000)).toEqual([1]);
  expect(await read(5)).toEqual([]);
  expect(await read(4)).toEqual([5]);
});

it('a stream that gives no batches is asked for one once in a minute', async () => {
  const { read, pass, asked } = await batchesOf('leader', false);
  expect([await read(0), await read(0)]).toEqual([[], []]);
  expect(asked()).toBe(1);
  pass(60_000);
  expect([await read(0), await read(0)]).toEqual([[], []]);
  expect(asked()).toBe(2);
});

it('a batch leaves no subscription at the server, whether it has messages, none, or is refused', async () => {
  const subscriptions = async (): Promise<number> => {
    await connection.flush();
    const { num_subscriptions: count } = (await (await fetch(`${pages}/subsz`)).json()) as Subscriptions;
    return count;
  };
  const [direct, leader] = [await batchesOf('kept', true), await batchesOf('refused', false)];
  const before = await subscriptions();
  for (let page = 0; page < 50; page += 1) await direct.read(0);
  for (let page = 0; page < 5; page += 1) await direct.read(5);
  await leader.read(0);
  expect(await subscriptions()).toBe(before);
});

interface Subscriptions {
  readonly num_subscriptions: number;
}

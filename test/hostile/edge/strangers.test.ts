import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { collectGarbage } from '../../../lib/process/collect-garbage.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { RawHttp2 } from '../../support/raw-http2.ts';
import type { TestRelay, TestRelayOptions } from '../../support/test-relay.ts';

const mebibyte = 1_048_576;
const attest = '/windlass.node.v1.NodeClusterService/AttestNode';
/** Codes of HTTP/2. */
const noError = 0;
const refusedStream = 7;

let world: ProtocolWorld;
const strangers: RawHttp2[] = [];

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
afterEach(async () => {
  for (const { socket } of strangers.splice(0)) socket.destroy();
  await world.clear();
});

/** A relay that trusts no proxy: each address of the loopback is a network. */
const relayWith = (options: Partial<TestRelayOptions>) => world.relay({ proxies: [], ...options });

function stranger({ listener }: TestRelay, from = 2): RawHttp2 {
  const made = new RawHttp2(listener.port, `127.0.0.${from}`);
  strangers.push(made);
  return made;
}
const many = (relay: TestRelay, count: number, from: (at: number) => number = () => 2): RawHttp2[] =>
  Array.from({ length: count }, (_, at) => stranger(relay, from(at)));
const closedOf = (all: readonly RawHttp2[]): number => all.filter(({ isClosed }) => isClosed).length;

/** Hosts enroll at a relay that believes their addresses. */
async function enrolled(count: number) {
  const other = await world.relay();
  return Promise.all(Array.from({ length: count }, () => world.enroll(other.client)));
}

describe('calls of strangers', () => {
  it('with 60 KB of headers are refused, with and without a body, and leave nothing in memory', async () => {
    const relay = await relayWith({ received: { bytes: mebibyte, wholeMs: 120_000 } });
    const [host] = await enrolled(1);
    if (host === undefined) throw new Error('one is enrolled');
    await world.connected(relay.client, host);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const callers = many(relay, 40, (at) => 2 + (at % 4));
    for (const caller of callers)
      for (let at = 0; at < 16; at += 1) {
        const call = caller.begin(attest, 60_000);
        if (at % 2 === 0) caller.data(call, Buffer.alloc(5));
      }
    await vi.waitFor(() => expect(callers.reduce((sum, { resets }) => sum + resets.length, 0)).toBe(640), {
      timeout: 30_000,
    });
    expect(callers.reduce((sum, { came }) => sum + came.headers, 0)).toBe(640);
    collectGarbage();
    // 640 calls of 60 KB are 37 MiB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(12 * mebibyte);
    expect(relay.received.arriving.used).toBe(0);
  }, 60_000);

  it('are 16 over one connection, have 30 s for their whole message from the headers on, and are over with their status', async () => {
    const relay = await relayWith({ received: { bytes: mebibyte, wholeMs: 1_500 } });
    const caller = stranger(relay);
    for (let at = 0; at < 40; at += 1) caller.begin(attest);
    await vi.waitFor(() => expect(caller.resets).toEqual(Array.from({ length: 24 }, () => refusedStream)));
    expect(caller.came.headers).toBe(0);
    await vi.waitFor(() => expect(caller.resets).toHaveLength(40), { timeout: 10_000 });
    expect(caller.resets.slice(24)).toEqual(Array.from({ length: 16 }, () => noError));
    expect(caller.came.headers).toBe(16);
    // Their places are free.
    caller.resets.length = 0;
    for (let at = 0; at < 16; at += 1) caller.begin(attest);
    await vi.waitFor(() => expect(caller.resets).toEqual(Array.from({ length: 16 }, () => noError)), {
      timeout: 10_000,
    });
  }, 30_000);

  it.each(['/grpc.health.v1.Health/Check', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', '/no/such'])(
    'to %s that say nothing are ended and closed',
    async (path) => {
      const relay = await relayWith({ received: { bytes: mebibyte, wholeMs: 500 } });
      const caller = stranger(relay);
      caller.begin(path);
      await vi.waitFor(() => expect(caller.resets).toEqual([noError]), { timeout: 10_000 });
      expect(caller.came.headers).toBe(1);
    },
  );
});

describe('connections of strangers', () => {
  it('that make no call are closed after a minute, and those of a daemon are not', async () => {
    const relay = await relayWith({ strangers: { idleMs: 1_000 } });
    const [host] = await enrolled(1);
    if (host === undefined) throw new Error('one is enrolled');
    const stream = await world.connected(relay.client, host);
    const idle = many(relay, 20);
    const silent = stranger(relay, 3);
    await vi.waitFor(() => expect(closedOf([...idle, silent])).toBe(21), { timeout: 15_000 });
    expect(idle.filter(({ came }) => came.goaway === 0)).toEqual([]);
    await systemClock.sleep(1_500);
    stream.send('heartbeat', Buffer.alloc(0));
    await world.becomes(host, 'Connected');
    expect(relay.streams.counts().Connected).toBe(1);
  }, 60_000);

  it('of one network leave places for a daemon of another one at once', async () => {
    const relay = await relayWith({ strangers: { places: 20, waiting: 40, idleMs: 600_000, spareMs: 600_000 } });
    const [host] = await enrolled(1);
    if (host === undefined) throw new Error('one is enrolled');
    const held = many(relay, 200);
    // Those that wait have no settings of the server.
    await vi.waitFor(() => expect(held.filter(({ came }) => came.settings > 0)).toHaveLength(16));
    await vi.waitFor(() => expect(closedOf(held)).toBeGreaterThanOrEqual(200 - 16 - 40), { timeout: 10_000 });
    await world.connected(relay.client, host);
  }, 60_000);

  it('of many networks that have taken every place make room for a daemon, the fullest account first', async () => {
    const relay = await relayWith({ strangers: { places: 20, idleMs: 600_000, spareMs: 500 } });
    const [host] = await enrolled(1);
    if (host === undefined) throw new Error('one is enrolled');
    const few = many(relay, 4, (at) => 10 + at);
    const most = many(relay, 16);
    await vi.waitFor(() => expect([...few, ...most].filter(({ came }) => came.settings > 0)).toHaveLength(20), {
      timeout: 10_000,
    });
    await world.connected(relay.client, host);
    expect(closedOf(few)).toBe(0);
    expect(closedOf(most)).toBeGreaterThan(0);
  }, 60_000);

  it('hold up no fleet behind one address, whose streams count no more', async () => {
    const relay = await relayWith({ strangers: { places: 5 } });
    const hosts = await enrolled(40);
    const { port } = relay.listener;
    await Promise.all(hosts.map((host) => world.connected(world.client(port), host)));
    expect(relay.streams.counts().Connected).toBe(40);
  }, 90_000);

  it('grow with the streams that have proved their tokens: one connection carries many hosts', async () => {
    const relay = await relayWith({});
    const hosts = await enrolled(60);
    const client = world.client(relay.listener.port);
    await Promise.all(hosts.map((host) => world.connected(client, host)));
    expect(relay.streams.counts().Connected).toBe(60);
  }, 90_000);
});

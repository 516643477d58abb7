import { randomUUID } from 'node:crypto';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields } from '../../support/wire.ts';
import { attestation, envelopeOf, newKey, rawOf, type WireHost, type WireStream } from '../../support/wire-daemon.ts';

const mebibyte = 1_048_576;
const largest = 4 * mebibyte;

let world: ProtocolWorld;
const sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await world.clear();
});

function session({ listener }: TestRelay, localAddress = '127.0.0.1'): ClientHttp2Session {
  const { port } = listener;
  const made = connect(`http://127.0.0.1:${port}`, {
    createConnection: () => connectTcp({ host: '127.0.0.1', port, localAddress }),
  });
  made.on('error', () => undefined);
  made.setMaxListeners(0);
  sessions.push(made);
  return made;
}

/** A call of a daemon that writes its own frames. */
class RawCall {
  readonly ended: Promise<string>;
  code: string | undefined;
  details = '';
  readonly #stream: ClientHttp2Stream;

  constructor(over: ClientHttp2Session, method: string, token?: string) {
    this.#stream = over.request({
      ':method': 'POST',
      ':path': method.startsWith('/') ? method : `/windlass.node.v1.NodeClusterService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-encoding': 'gzip',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    });
    this.#stream.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const read = (headers: Readonly<Record<string, unknown>>): void => {
        const code = headers['grpc-status'];
        if (code === undefined) return;
        this.details = decodeURIComponent(String(headers['grpc-message']));
        this.code = status[Number(code)] ?? 'unknown';
        resolve(this.code);
      };
      this.#stream.on('response', read).on('trailers', read);
      this.#stream.on('close', () => resolve((this.code ??= 'closed')));
    });
    this.#stream.resume();
  }

  write(bytes: Uint8Array): void {
    this.#stream.write(bytes);
  }

  end(): void {
    this.#stream.end();
  }
}

const header = (length: number, flag = 0): Buffer => {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(flag);
  bytes.writeUInt32BE(length, 1);
  return bytes;
};
const framed = (message: Buffer): Buffer => Buffer.concat([header(message.length), message]);

function helloOf({ key, nodeId, token }: WireHost): Buffer {
  const streamId = randomUUID();
  const rest = fields(field(2, fields(field(1, 'linux'), field(2, 'amd64'), field(3, 'cmd.run'))), field(3, streamId));
  const facts = { key, nodeId, token, domain: 'windlass-edge-hello-v1', streamId, sequence: 1n };
  return field(1, fields(field(1, envelopeOf(rest, facts)), rest));
}

/** The stream of a host that has said Hello and then begins a message of 4 MiB, of which so many bytes come. */
function halfSent(over: ClientHttp2Session, host: WireHost, bytes: Uint8Array): RawCall {
  const call = new RawCall(over, 'ConnectEdge', host.token);
  call.write(framed(helloOf(host)));
  call.write(header(largest));
  call.write(bytes);
  return call;
}

const acknowledged = (stream: WireStream): string[] =>
  stream.commands.flatMap((command) => command.message(11).texts(1));

/** A result of so many bytes; resolves when it is acknowledged. */
async function served(stream: WireStream, host: WireHost, bytes: number): Promise<void> {
  const { commandId } = await world.claim(host);
  const filling = field(15, Buffer.alloc(bytes));
  stream.send('commandResult', fields(field(2, commandId), field(3, field(1, Buffer.alloc(0))), filling));
  await vi.waitFor(() => expect(acknowledged(stream)).toContain(commandId), { timeout: 10_000 });
}

const enrolled = (relay: TestRelay & { client: Parameters<ProtocolWorld['enroll']>[0] }, count: number) =>
  Promise.all(Array.from({ length: count }, () => world.enroll(relay.client, 'umbra')));

describe('hosts whose messages never arrive whole', () => {
  it('200 of one tenant, with 4 MiB each, have their share of the memory, and another tenant is served throughout', async () => {
    const bytes = 40 * mebibyte;
    const relay = await world.relay({ received: { bytes, roomMs: 120_000, wholeMs: 120_000 } });
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    const hosts = await enrolled(relay, 200);
    const part = Buffer.alloc(largest - 1_000);
    const before = process.memoryUsage().rss;
    let most = 0;
    const look = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
    const over = [session(relay), session(relay), session(relay), session(relay)];
    const calls = hosts.map((one, at) => halfSent(over[at % 4] ?? session(relay), one, part));
    await vi.waitFor(() => expect(relay.streams.counts().Connected).toBe(201), { timeout: 60_000 });
    for (const size of [1_000, mebibyte, largest - 1_000, 1_000]) {
      await systemClock.sleep(500);
      await served(stream, host, size);
    }
    clearInterval(look);
    expect(calls.filter(({ code }) => code !== undefined)).toEqual([]);
    expect(relay.received.pool.heldBy('umbra')).toBeGreaterThan(bytes / 2);
    expect(relay.received.pool.heldBy('umbra')).toBeLessThanOrEqual((bytes * 4) / 5);
    // Both ends are in this process; HTTP/2 lets each peer send 64 KiB before anybody reads.
    expect(most - before).toBeLessThan(bytes + 120 * mebibyte);
    for (const one of sessions.splice(0)) one.destroy();
    await vi.waitFor(() => expect(relay.received.pool.used).toBe(0), { timeout: 10_000 });
  }, 180_000);

  it('lose their streams when the time of a message is over, and the next ones get their room', async () => {
    const relay = await world.relay({ received: { bytes: 6 * mebibyte, wholeMs: 1_000, roomMs: 20_000 } });
    const [first, second] = await enrolled(relay, 2);
    if (first === undefined || second === undefined) throw new Error('two are enrolled');
    const over = session(relay);
    const part = Buffer.alloc(mebibyte);
    const one = halfSent(over, first, part);
    await vi.waitFor(() => expect(relay.received.pool.heldBy('umbra')).toBe(largest), { timeout: 10_000 });
    const stream = await world.connected(relay.client, second);
    await served(stream, second, largest - 1_000);
    expect(await one.ended).toBe('RESOURCE_EXHAUSTED');
    expect(one.details).toBe('a message did not arrive whole within 1 s');
    expect(relay.received.pool.used).toBe(0);
  }, 60_000);

  it('are to come back where there is no room for them in time', async () => {
    const relay = await world.relay({ received: { bytes: 5 * mebibyte, wholeMs: 60_000, roomMs: 1_000 } });
    const hosts = await enrolled(relay, 2);
    const over = session(relay);
    const calls = hosts.map((host) => halfSent(over, host, Buffer.alloc(10)));
    expect(await Promise.race(calls.map(({ ended }) => ended))).toBe('UNAVAILABLE');
    const refused = calls.find(({ code }) => code !== undefined);
    expect(refused?.details).toContain(`there is no room for a message of ${largest} bytes`);
    await systemClock.sleep(300);
    expect(calls.filter(({ code }) => code === undefined)).toHaveLength(1);
  }, 60_000);
});

describe('a first message', () => {
  it('that is larger than a Hello may be is refused at its first bytes', async () => {
    const relay = await world.relay();
    const host = await world.enroll(relay.client);
    const call = new RawCall(session(relay), 'ConnectEdge', host.token);
    call.write(header(mebibyte));
    expect(await call.ended).toBe('RESOURCE_EXHAUSTED');
    expect(relay.received.pool.used).toBe(0);
  });
});

describe('a packed first message', () => {
  it('that unpacks to more than a Hello may have is refused', async () => {
    const relay = await world.relay();
    const host = await world.enroll(relay.client);
    const call = new RawCall(session(relay), 'ConnectEdge', host.token);
    const packed = gzipSync(Buffer.alloc(mebibyte));
    call.write(header(packed.length, 1));
    call.write(packed);
    expect(await call.ended).toBe('RESOURCE_EXHAUSTED');
  });
});

describe('a request of another call', () => {
  it.each(['AttestNode', 'ChallengeNode', 'RotateEdgeKey'])(
    'to %s of more than 64 KiB is refused at its first bytes, and one that never arrives whole when its time is over',
    async (method) => {
      const relay = await world.relay({ received: { bytes: mebibyte, wholeMs: 1_000 } });
      const over = session(relay);
      const large = new RawCall(over, method);
      large.write(header(64 * 1024 + 1));
      expect(await large.ended).toBe('RESOURCE_EXHAUSTED');
      const slow = new RawCall(over, method);
      slow.write(header(64 * 1024));
      slow.write(Buffer.alloc(1_000));
      expect(await slow.ended).toBe('RESOURCE_EXHAUSTED');
      expect(slow.details).toBe('a message did not arrive whole within 1 s');
    },
  );

  it('that never ends has a place among few of its network, and only for the time of a message', async () => {
    const relay = await world.relay({ received: { bytes: mebibyte, arriving: 20, wholeMs: 2_000 } });
    const over = session(relay);
    const request = framed(attestation(rawOf(newKey())));
    // The first half has sent its message, and does not say that this is all.
    const calls = Array.from({ length: 40 }, (_, at) => {
      const call = new RawCall(over, 'AttestNode');
      call.write(at < 20 ? request : request.subarray(0, 20));
      return call;
    });
    await vi.waitFor(() => expect(calls.filter(({ code }) => code === 'UNAVAILABLE')).toHaveLength(24));
    expect(relay.received.arriving.used).toBe(16);
    const other = new RawCall(session(relay, '127.0.0.2'), 'AttestNode');
    other.write(request);
    other.end();
    expect(await other.ended).toBe('OK');
    await Promise.all(calls.map(({ ended }) => ended));
    expect(calls.filter(({ code }) => code === 'RESOURCE_EXHAUSTED')).toHaveLength(16);
    expect(relay.received.arriving.used).toBe(0);
    await world.enroll(relay.client);
  }, 30_000);

  it.each([
    ['Health', '/grpc.health.v1.Health/Check'],
    ['ServerReflection', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'],
  ])('of %s that never ends is ended', async (_name, path) => {
    const relay = await world.relay({ received: { bytes: mebibyte, wholeMs: 1_000 } });
    const call = new RawCall(session(relay), path);
    call.write(header(100));
    expect(await call.ended).toBe('RESOURCE_EXHAUSTED');
  });
});

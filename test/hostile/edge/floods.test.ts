import { ServerCredentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRelayClient } from '../../../edge/stream/relay-client.ts';
import { collectGarbage } from '../../../lib/process/collect-garbage.ts';
import { type Certificate, makeCertificate } from '../../cluster/harness/certificate.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { frame, RawHttp2, text } from '../../support/raw-http2.ts';
import type { TestRelay } from '../../support/test-relay.ts';

const mebibyte = 1_048_576;
/** Kinds of frames, by RFC 9113. */
const [data, headers, reset, settings, ping, windowUpdate, continuation] = [0, 1, 3, 4, 6, 8, 9];
const endHeaders = 4;

let world: ProtocolWorld;
let own: Certificate;
let relay: TestRelay;
const strangers: RawHttp2[] = [];

beforeAll(async () => {
  [world, own] = await Promise.all([ProtocolWorld.start(), makeCertificate()]);
  const pair = { private_key: Buffer.from(own.key), cert_chain: Buffer.from(own.cert) };
  relay = await world.relay({ proxies: [], credentials: ServerCredentials.createSsl(null, [pair]) });
}, 60_000);
afterAll(() => world.stop());
afterEach(() => {
  for (const { socket } of strangers.splice(0)) socket.destroy();
});

function stranger({ listener }: TestRelay): RawHttp2 {
  const made = new RawHttp2(listener.port, '127.0.0.2', true);
  strangers.push(made);
  return made;
}

const field = (name: string, value: string): Buffer => Buffer.concat([Buffer.from([0]), text(name), text(value)]);
/** Adds the field to the table of the connection. */
const kept = (name: string, value: string): Buffer => Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
const call = Buffer.concat([
  field(':method', 'POST'),
  field(':scheme', 'https'),
  field(':path', '/windlass.node.v1.NodeClusterService/AttestNode'),
  field(':authority', 'x'),
  field('content-type', 'application/grpc'),
  field('te', 'trailers'),
]);

interface Flood {
  /** Frames, a thousand at a time. */
  readonly pieces: () => Iterable<Buffer>;
  /** Whether the relay cuts the connection. Absent: it takes them, for they cost it nothing. */
  readonly ends?: true;
}

function* times(count: number, make: (at: number) => Buffer): Iterable<Buffer> {
  for (let from = 0; from < count; from += 1_000)
    yield Buffer.concat(Array.from({ length: Math.min(1_000, count - from) }, (_, at) => make(from + at)));
}

const count = 30_000;
/** A field in the table of the connection, and references to it of one byte each. */
const unfolding = (references: number): Buffer =>
  Buffer.concat([call, kept('x', 'y'.repeat(3_900)), Buffer.alloc(references, 0xbe)]);
const calls = (many: number, block: Buffer): Iterable<Buffer> =>
  times(many, (at) => frame(headers, endHeaders, 1 + 2 * at, block));
function* behind(first: Buffer, rest: Iterable<Buffer>): Iterable<Buffer> {
  yield first;
  yield* rest;
}

const floods: Readonly<Record<string, Flood>> = {
  'empty CONTINUATION frames': {
    pieces: () =>
      behind(
        frame(headers, 0, 1, call),
        times(count, () => frame(continuation, 0, 1)),
      ),
    ends: true,
  },
  'CONTINUATION frames of a field each': {
    pieces: () => {
      const one = (at: number): Buffer => frame(continuation, 0, 1, field(`x-${at}`, 'y'.repeat(100)));
      return behind(frame(headers, 0, 1, call), times(count, one));
    },
    ends: true,
  },
  'headers of 15 KB that unfold to 46 MB': { pieces: () => calls(200, unfolding(12_000)) },
  'headers of 4 KB that unfold to 460 KB': { pieces: () => calls(1_000, unfolding(118)) },
  'SETTINGS frames': {
    pieces: () => times(count, () => frame(settings, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))),
    ends: true,
  },
  'SETTINGS frames of 2,000 values': {
    pieces: () => times(1_000, () => frame(settings, 0, 0, Buffer.alloc(12_000, 9))),
    ends: true,
  },
  'PING frames': { pieces: () => times(count, () => frame(ping, 0, 0, Buffer.alloc(8))), ends: true },
  'calls that are reset at once': {
    pieces: () =>
      times(count, (at) =>
        Buffer.concat([frame(headers, endHeaders, 1 + 2 * at, call), frame(reset, 0, 1 + 2 * at, Buffer.alloc(4))]),
      ),
    ends: true,
  },
  'resets of streams that never were': {
    pieces: () => times(count, (at) => frame(reset, 0, 1 + 2 * at, Buffer.alloc(4))),
    ends: true,
  },
  'empty DATA frames': {
    pieces: () =>
      behind(
        frame(headers, endHeaders, 1, call),
        times(count, () => frame(data, 0, 1)),
      ),
    ends: true,
  },
  'window updates': { pieces: () => times(count, () => frame(windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1]))) },
  'frames of no known kind': { pieces: () => times(count, () => frame(0xfe, 0, 0, Buffer.alloc(8))), ends: true },
};

const inUse = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** Resolves when the relay has taken everything, or has cut the connection. */
async function send({ socket }: RawHttp2, pieces: Iterable<Buffer>): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const piece of pieces) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  }
}

describe.each(['reads', 'does not read'])('over TLS a stranger that %s the answers', (reads) => {
  it.each(Object.entries(floods))('and sends %s takes no memory, and holds up no other peer', async (_name, flood) => {
    using client = createRelayClient({ endpoint: `localhost:${relay.listener.port}`, ca: own.cert, insecure: false });
    expect(await client.isServing()).toBe(true);
    const before = inUse();
    const peer = stranger(relay);
    if (reads !== 'reads') peer.socket.pause();
    const sent = send(peer, flood.pieces());
    expect(await client.isServing()).toBe(true);
    await sent;
    await vi.waitFor(() => expect(peer.socket.destroyed).toBe(flood.ends === true), { timeout: 30_000 });
    expect(await client.isServing()).toBe(true);
    expect((inUse() - before) / mebibyte).toBeLessThan(8);
  });
});

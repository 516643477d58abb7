import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '@grpc/grpc-js';
import { edgeLimits, type EdgeNews } from '../../../lib/edge/index.ts';
import { Struct } from '../../../proto/generated/google/protobuf/struct.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields, secondsAndNanos } from '../../support/wire.ts';
import type { WireHost, WireStream } from '../../support/wire-daemon.ts';
import { type Claimed, ProtocolWorld } from './protocol-world.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
});
afterEach(() => world.clear());

/** An entry of a map from texts to texts. */
const entry = (key: string, value: string): Buffer => fields(field(1, key), field(2, value));
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const acknowledged = (stream: WireStream): string[] =>
  stream.commands.flatMap((command) => command.message(11).texts(1));

describe('Hello', () => {
  it('EDGE-PROTO-01 EDGE-PROTO-06..10 EDGE-PROTO-12 EDGE-PROTO-17..19 stores the capabilities of their fields', async () => {
    const host = await world.enroll(relay.client);
    const capabilities = fields(
      field(1, 'linux'),
      field(2, 'amd64'),
      field(3, 'cmd.run'),
      field(3, 'fs.read'),
      field(4, '/srv'),
      field(4, '/var/lib'),
      field(5, entry('zone', 'b')),
      field(5, entry('rack', '7')),
      field(10, secondsAndNanos(300)),
    );
    await world.connected(relay.client, host, capabilities);
    expect((await world.status(host))?.capabilities).toEqual({
      os: 'linux',
      arch: 'amd64',
      local_tools: ['cmd.run', 'fs.read'],
      mount_points: ['/srv', '/var/lib'],
      labels: { zone: 'b', rack: '7' },
      command_timeout_secs: 300,
    });
  });

  it('EDGE-PROTO-11 EDGE-FLOW-09 changes no tags, whatever a daemon adds to its capabilities', async () => {
    const host = await world.enroll(relay.client);
    world.hosts.tag('acme', host.nodeId, ['ours']);
    const stream = await world.connected(relay.client, host, fields(field(1, 'linux'), field(6, 'theirs')));
    stream.send('capabilityUpdate', field(2, fields(field(1, 'freebsd'), field(6, 'theirs'))));
    stream.heartbeat();
    await vi.waitFor(async () => expect((await world.status(host))?.capabilities?.os).toBe('freebsd'));
    const stored = (await world.hosts.find('acme', host.nodeId))?.object;
    expect(stored?.spec.tags).toEqual(['ours']);
    expect(JSON.stringify(stored)).not.toContain('theirs');
  });

  const os = (length: number): Buffer => field(1, 'o'.repeat(length));
  /** Tools and labels of so many characters, counted as the relay does: 14 of 253, ten of 34, and a label. */
  const ofCharacters = (count: number): Buffer =>
    fields(
      ...times(14, (at) => field(3, `${10 + at}${'t'.repeat(243)}`)),
      ...times(10, (at) => field(5, entry(`k${at}`, ''))),
      field(5, entry('label', 'v'.repeat(count - 14 * 253 - 10 * 34 - 37))),
    );
  const labels = (count: number): Buffer => fields(...times(count, (at) => field(5, entry(`k${at}`, 'v'))));
  const around = JSON.stringify({ os: '', arch: '', local_tools: [], mount_points: ['p'], labels: {} }).length - 1;
  /** Capabilities of so many bytes as JSON: mount points, of which a character takes three. */
  const ofBytes = (bytes: number): Buffer => {
    const mounts = times(9, () => field(4, '中'.repeat(500)));
    return fields(...mounts, field(4, '中'.repeat(900)), field(4, 'p'.repeat(bytes - around - 9 * 1_503 - 2_703)));
  };
  it.each<[what: string, isTaken: boolean, capabilities: Buffer]>([
    ['no capabilities at all', true, Buffer.alloc(0)],
    ['os of 63 characters', true, os(63)],
    ['os of 64 characters', false, os(64)],
    ['arch of 63 characters', true, field(2, 'a'.repeat(63))],
    ['arch of 64 characters', false, field(2, 'a'.repeat(64))],
    ['255 local tools', true, fields(...times(255, (at) => field(3, `t${at}`)))],
    ['256 local tools', true, fields(...times(256, (at) => field(3, `t${at}`)))],
    ['257 local tools', false, fields(...times(257, (at) => field(3, `t${at}`)))],
    ['a tool of 253 characters', true, field(3, 't'.repeat(253))],
    ['a tool without a name', false, field(3, '')],
    ['a label without a name', false, field(5, entry('', 'v'))],
    ['a label without a value', true, field(5, entry('k', ''))],
    ['a tool of 254 characters', false, field(3, 't'.repeat(254))],
    ['256 mount points', true, fields(...times(256, (at) => field(4, `/${at}`)))],
    ['257 mount points', false, fields(...times(257, (at) => field(4, `/${at}`)))],
    ['a mount point of 1024 characters', true, field(4, 'p'.repeat(1_024))],
    ['a mount point of 1025 characters', false, field(4, 'p'.repeat(1_025))],
    ['63 labels', true, labels(63)],
    ['64 labels', true, labels(64)],
    ['65 labels', false, labels(65)],
    ['a label of 253 characters', true, field(5, entry('k'.repeat(253), 'v'))],
    ['a label of 254 characters', false, field(5, entry('k'.repeat(254), 'v'))],
    ['a label with a value of 256 characters', true, field(5, entry('k', 'v'.repeat(256)))],
    ['a label with a value of 257 characters', false, field(5, entry('k', 'v'.repeat(257)))],
    ['a command timeout of a second', true, field(10, secondsAndNanos(1))],
    ['a command timeout of no time', false, field(10, secondsAndNanos(0))],
    ['a command timeout of a second and a half', false, field(10, secondsAndNanos(1, 500_000_000))],
    ['a command timeout of a day', true, field(10, secondsAndNanos(86_400))],
    ['a command timeout of a day and a second', false, field(10, secondsAndNanos(86_401))],
    ['16 KiB as JSON in all', true, ofBytes(16_384)],
    ['16 KiB and a byte as JSON in all', false, ofBytes(16_385)],
  ])('EDGE-PROTO-06..10 with %s: taken is %s', async (_what, isTaken, capabilities) => {
    const host = await world.enroll(relay.client);
    const stream = world.open(relay.client, host);
    stream.hello(capabilities);
    const connected = world.becomes(host, 'Connected').then(() => 'taken');
    connected.catch(() => undefined);
    expect(await Promise.race([connected, stream.ended])).toBe(isTaken ? 'taken' : 'INVALID_ARGUMENT');
  });

  it.each([
    [4_096, undefined],
    [4_097, 1],
  ])('EDGE-PROTO-08 EDGE-PROTO-10 with tools and labels of %i characters: left out are %s', async (count, leftOut) => {
    const host = await world.enroll(relay.client);
    world.open(relay.client, host).hello(ofCharacters(count));
    await world.becomes(host, 'Connected');
    const { labels, local_tools: tools, facts_left_out: found } = (await world.status(host))?.capabilities ?? {};
    expect([Object.keys(labels ?? {}).length, tools?.length, found]).toEqual([11, 14 - (leftOut ?? 0), leftOut]);
  });

  it('EDGE-PROTO-19 takes a stream id in capitals', async () => {
    const host = await world.enroll(relay.client);
    const streamId = randomUUID().toUpperCase();
    world.open(relay.client, host).send('hello', field(3, streamId), { streamId });
    await world.becomes(host, 'Connected');
    expect((await world.status(host))?.status).toBe('Connected');
  });

  it.each([
    ['without hyphens', '0b54ef1e9d5d4f6a8b8e000000000001'],
    ['one character short', '0b54ef1e-9d5d-4f6a-8b8e-00000000000'],
    ['one character long', '0b54ef1e-9d5d-4f6a-8b8e-0000000000012'],
    ['that is empty', ''],
  ])('EDGE-PROTO-19 with a stream id %s ends with INVALID_ARGUMENT', async (_what, streamId) => {
    const stream = world.open(relay.client, await world.enroll(relay.client));
    stream.send('hello', field(3, streamId), { streamId });
    expect(await stream.ended).toBe('INVALID_ARGUMENT');
  });
});

describe('events of an open stream', () => {
  it('EDGE-PROTO-13 EDGE-PROTO-20 EDGE-FLOW-17 Heartbeat ends a silence of more than 90 s', async () => {
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    world.steadyAheadMs = 90_001;
    await relay.streams.checkHeartbeats();
    expect((await world.status(host))?.status).toBe('Unhealthy');
    stream.heartbeat();
    await world.becomes(host, 'Connected');
  });

  it('EDGE-PROTO-16 EDGE-PROTO-25 EDGE-FLOW-08 CapabilityUpdate replaces the capabilities at the next Heartbeat', async () => {
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    stream.send('capabilityUpdate', field(2, fields(field(1, 'linux'), field(2, 'riscv64'))));
    // A command that comes back shows that the update was taken.
    const { commandId } = await world.claim(host);
    stream.send('commandResult', fields(field(2, commandId), field(3, field(1, Buffer.alloc(0)))));
    await vi.waitFor(() => expect(acknowledged(stream)).toEqual([commandId]));
    expect((await world.status(host))?.capabilities?.arch).toBe('amd64');
    stream.heartbeat();
    await vi.waitFor(async () => {
      const { arch, local_tools } = (await world.status(host))?.capabilities ?? {};
      expect({ arch, local_tools }).toEqual({ arch: 'riscv64', local_tools: [] });
    });
  });

  const envelope = Buffer.alloc(0);
  it.each([
    ['no event', Buffer.alloc(0)],
    ['an event of number 6', field(6, fields(field(1, envelope)))],
    ['an event of number 0x1fffffff', field(0x1fff_ffff, Buffer.alloc(0))],
    ['two events', fields(field(2, field(1, envelope)), field(2, field(1, envelope)))],
    ['an event that is a number', field(2, 7)],
  ])('EDGE-PROTO-12..16 with %s end with INVALID_ARGUMENT', async (_what, bytes) => {
    const stream = await world.connected(relay.client, await world.enroll(relay.client));
    stream.raw(bytes);
    expect(await stream.ended).toBe('INVALID_ARGUMENT');
  });

  it('take 4 MiB, and no byte more', async () => {
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    // An unknown field fills the message up.
    const now = 1_000 * Math.floor(Date.now() / 1_000);
    const filled = (bytes: number): number => stream.send('heartbeat', field(15, Buffer.alloc(bytes)), { now }).length;
    const frame = filled(4_000_000) - 4_000_000;
    const padded = (bytes: number): number => filled(bytes - frame);
    expect(padded(edgeLimits.messageBytes)).toBe(4_194_304);
    const { commandId } = await world.claim(host);
    stream.send('commandResult', fields(field(2, commandId), field(3, field(1, Buffer.alloc(0)))));
    await vi.waitFor(() => expect(acknowledged(stream)).toEqual([commandId]), { timeout: 10_000 });
    expect(padded(edgeLimits.messageBytes + 1)).toBe(4_194_305);
    expect(await stream.ended).toBe('RESOURCE_EXHAUSTED');
  });
});

describe('CommandResult', () => {
  let host: WireHost;
  let stream: WireStream;
  let claimed: Claimed;
  beforeEach(async () => {
    host = await world.enroll(relay.client);
    stream = await world.connected(relay.client, host);
    claimed = await world.claim(host);
  });
  const send = (result: Uint8Array): Buffer =>
    stream.send('commandResult', fields(field(2, claimed.commandId), field(3, result)));
  const outcome = async (): Promise<unknown> => {
    const [news] = await world.news(claimed, 1);
    return news?.kind === 'result' ? news.result : news;
  };

  const struct = (key: string, text: string): Buffer => field(1, fields(field(1, key), field(2, field(3, text))));
  const any = (value: Uint8Array): Buffer =>
    fields(field(1, 'type.googleapis.com/google.protobuf.Struct'), field(2, value));
  /** A Struct `{"n": [number]}`. */
  const structOf = (number: number): Uint8Array => Struct.encode(Struct.wrap({ n: [number] })).finish();
  const [most, least] = [2_147_483_647, -2_147_483_648];

  it.each<[ids: string, what: string, result: Buffer, want: object]>([
    ['EDGE-PROTO-27', 'an empty Ok', field(1, Buffer.alloc(0)), { outcome: 'ok', exit_code: 0, duration_ms: 0 }],
    [
      'EDGE-PROTO-27',
      'the fields of Ok',
      field(1, fields(field(1, 3), field(2, any(struct('stdout', 'hi'))), field(3, secondsAndNanos(2, 500_000_000)))),
      { outcome: 'ok', exit_code: 3, duration_ms: 2_500, payload: { stdout: 'hi' } },
    ],
    ['EDGE-PROTO-27', 'the largest exit code', field(1, field(1, most)), { outcome: 'ok', exit_code: most }],
    ['EDGE-PROTO-27', 'the smallest exit code', field(1, field(1, least)), { outcome: 'ok', exit_code: least }],
    [
      'EDGE-PROTO-28',
      'the fields of Err',
      field(2, fields(field(1, 'CommandFailed'), field(2, 'it broke'), field(3, -1))),
      { outcome: 'err', code: 'CommandFailed', message: 'it broke', exit_code: -1 },
    ],
    [
      'EDGE-PROTO-29',
      'the deadline of TimedOut',
      field(3, field(1, secondsAndNanos(1, 1_000_000))),
      { outcome: 'timed_out', deadline_ms: 1_001 },
    ],
    [
      'EDGE-PROTO-30',
      'the reason of Cancelled',
      field(4, field(1, 'enough')),
      { outcome: 'cancelled', reason: 'enough' },
    ],
  ])('EDGE-PROTO-14 EDGE-PROTO-21..23 EDGE-PROTO-26 %s reports %s', async (_ids, _what, result, want) => {
    send(result);
    expect(await outcome()).toMatchObject(want);
    expect(acknowledged(stream)).toEqual([claimed.commandId]);
  });

  it.each([
    ['none', Buffer.alloc(0)],
    ['one of number 5', field(5, Buffer.alloc(0))],
  ])('EDGE-PROTO-26 with an outcome that is %s ends the stream, and reports nothing', async (_what, result) => {
    send(result);
    expect(await stream.ended).toBe('INVALID_ARGUMENT');
    expect(await world.news(claimed, 0)).toEqual([]);
    expect((await world.commands.recordOf(claimed.commandId))?.ended).toBeUndefined();
  });

  it.each([
    ['one byte below 512 KiB', -1, 'ok'],
    ['512 KiB', 0, 'ok'],
    ['one byte above 512 KiB', 1, 'err'],
  ])('EDGE-PROTO-27 with a payload of %s is kept whole or not at all', async (_what, more, want) => {
    const frame = struct('t', 'x'.repeat(500_000)).length - 500_000;
    const payload = struct('t', 'x'.repeat(edgeLimits.payloadBytes + more - frame));
    expect(payload.length).toBe(524_288 + more);
    send(field(1, field(2, any(payload))));
    expect(await outcome()).toMatchObject({ outcome: want, ...(want === 'err' && { code: 'PayloadInvalid' }) });
  });

  it.each([
    ['one byte below 960 KiB', -1, 'ok'],
    ['960 KiB', 0, 'ok'],
    ['one byte above 960 KiB', 1, 'err'],
    ['three times as much', 1_966_080, 'err'],
  ])('EDGE-PROTO-27 with a payload that takes, as JSON, %s is kept whole or not at all', async (_what, more, want) => {
    const jsonBytes = edgeLimits.payloadJsonBytes + more - JSON.stringify({ t: '' }).length;
    expect(edgeLimits.payloadJsonBytes).toBe(983_040);
    send(field(1, field(2, any(struct('t', '\u0001'.repeat(Math.floor(jsonBytes / 6)) + 'x'.repeat(jsonBytes % 6))))));
    expect(await outcome()).toMatchObject({ outcome: want, ...(want === 'err' && { code: 'PayloadInvalid' }) });
  });

  it.each([
    ['of another type', fields(field(1, 'type.googleapis.com/google.protobuf.Duration'), field(2, secondsAndNanos(1)))],
    ['that cannot be read', any(Buffer.from('ff', 'hex'))],
    ['without a type', field(2, struct('a', 'b'))],
    ['that holds NaN', any(structOf(NaN))],
    ['that holds an infinite number', any(structOf(Infinity))],
  ])('EDGE-PROTO-27 with a payload %s is an error, as it was no answer', async (_what, payload) => {
    send(field(1, fields(field(1, 4), field(2, payload))));
    expect(await outcome()).toMatchObject({ outcome: 'err', code: 'PayloadInvalid', exit_code: 4 });
  });

  it('EDGE-PROTO-28 cuts a message after 4096 characters', async () => {
    send(field(2, fields(field(1, 'C'), field(2, 'm'.repeat(4_097)))));
    expect(await outcome()).toMatchObject({ message: 'm'.repeat(4_096) });
  });
});

describe('CommandProgress', () => {
  it('EDGE-PROTO-15 EDGE-PROTO-24 EDGE-PROTO-31 EDGE-FLOW-10 passes on what a chunk holds, and nothing of other kinds', async () => {
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    const claimed = await world.claim(host);
    const chunk = (...kinds: readonly Uint8Array[]): Buffer =>
      stream.send('commandProgress', fields(field(2, claimed.commandId), ...kinds.map((kind) => field(3, kind))));
    chunk(field(1, Buffer.from([0xff, 0x00])));
    chunk(field(2, 'err'));
    chunk(field(3, fields(field(1, 'started'), field(2, 'now'))));
    chunk(field(4, 'of an unknown kind'));
    chunk(Buffer.alloc(0));
    chunk();
    stream.send('commandResult', fields(field(2, claimed.commandId), field(3, field(1, Buffer.alloc(0)))));
    const news = await world.news(claimed, 4);
    expect(news.map((one) => (one.kind === 'progress' ? one.chunk : one.kind))).toEqual([
      { stream: 'stdout', data: '/wA=' },
      { stream: 'stderr', data: Buffer.from('err').toString('base64') },
      { state: 'started', message: 'now' },
      'result',
    ]);
    const of = ({ tenant, run, node_id, command_id }: EdgeNews) => ({ tenant, run, node_id, command_id });
    const { run, commandId } = claimed;
    for (const one of news) {
      expect(of(one)).toEqual({ tenant: 'acme', run, node_id: host.nodeId, command_id: commandId });
    }
  });

  it.each<[what: string, sizes: readonly number[], passed: number]>([
    ['one chunk of 64 KiB', [65_536], 1],
    ['a byte more, in one chunk', [65_537], 1],
    ['chunks that end between', [30_000, 30_000, 30_000], 3],
    ['chunks that end there', Array.from({ length: 17 }, () => 4_096), 16],
  ])('EDGE-PROTO-24 EDGE-REST-29 passes on the first 64 KiB of %s, to the byte', async (_what, sizes, passed) => {
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    const claimed = await world.claim(host);
    const written = sizes.map((size, at) => Buffer.alloc(size, 65 + at));
    for (const chunk of written)
      stream.send('commandProgress', fields(field(2, claimed.commandId), field(3, field(1, chunk))));
    stream.send('commandProgress', fields(field(2, claimed.commandId), field(3, field(2, 'late'))));
    stream.send('commandResult', fields(field(2, claimed.commandId), field(3, field(1, Buffer.alloc(0)))));
    const news = await world.news(claimed, passed + 2);
    const chunks = news.flatMap((one) => (one.kind === 'progress' ? [one.chunk] : []));
    const got = Buffer.concat(chunks.map((one) => Buffer.from('data' in one ? one.data : '', 'base64')));
    expect(got.equals(Buffer.concat(written).subarray(0, 65_536))).toBe(true);
    expect(chunks.slice(passed)).toEqual([{ cut: true }]);
    expect(news.at(-1)?.kind).toBe('result');
  });

  it('AMB-010 with an empty command id is of the daemon itself, and of no run', async () => {
    const stream = await world.connected(relay.client, await world.enroll(relay.client));
    stream.send('commandProgress', field(3, field(3, field(1, 'drained'))));
    stream.heartbeat();
    expect(await Promise.race([stream.ended, world.clock.sleep(300).then(() => 'open')])).toBe('open');
  });
});

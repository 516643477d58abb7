import { type ClientHttp2Session, connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { type Client, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { edgeBuckets } from '../../../lib/edge/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { holdSleeps } from '../../support/held-clock.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields } from '../../support/wire.ts';
import type { WireHost, WireStream } from '../../support/wire-daemon.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let host: WireHost;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
  host = await world.enroll(relay.client);
});
afterEach(() => world.clear());

const mebibyte = 1_048_576;
const ok = field(3, field(1, Buffer.alloc(0)));
const err = field(3, field(2, field(1, 'Changed')));
const result = (stream: WireStream, commandId: string, outcome = ok): void =>
  void stream.send('commandResult', fields(field(2, commandId), outcome));
const acknowledged = (stream: WireStream): string[] =>
  stream.commands.flatMap((command) => command.message(11).texts(1));
const isOpen = (stream: WireStream): Promise<string> =>
  Promise.race([stream.ended, systemClock.sleep(300).then(() => 'open')]);

/** Node sends single headers twice. Its types do not have the option yet. */
const anyHeaders: object = { strictSingleValueFields: false };
const bearer = (token: string): string => `Bearer ${token}`;

/** One call of gRPC by hand: the message and the headers `authorization` that are sent, and the status that ends it. */
async function raw(method: string, frame: readonly Uint8Array[], given = [bearer(host.token)]): Promise<string> {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${relay.listener.port}`, anyHeaders);
  session.on('error', () => undefined);
  const headers = {
    ':method': 'POST',
    ':path': `/windlass.node.v1.NodeClusterService/${method}`,
    ':scheme': 'http',
    ':authority': '127.0.0.1',
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-encoding': 'gzip',
  };
  const stream = session.request([...Object.entries(headers), ...given.map((one) => ['authorization', one])].flat());
  stream.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    const read = (headers: Readonly<Record<string, unknown>>): void => {
      const code = headers['grpc-status'];
      if (code !== undefined) resolve(status[Number(code)] ?? 'unknown');
    };
    stream.on('response', read);
    stream.on('trailers', read);
    stream.on('close', () => resolve('closed'));
  });
  stream.resume();
  for (const part of frame) stream.write(part);
  const code = await Promise.race([ended, systemClock.sleep(20_000).then(() => 'nothing')]);
  session.destroy();
  return code;
}

describe('huge messages', () => {
  const header = (flag: number, length: number): Buffer => {
    const bytes = Buffer.alloc(5);
    bytes.writeUInt8(flag);
    bytes.writeUInt32BE(length, 1);
    return bytes;
  };
  /** Members of a gzip file one behind the other unpack to all of their contents. */
  const member = gzipSync(Buffer.alloc(mebibyte));
  const bomb = (mebibytes: number): Buffer => Buffer.concat(Array<Buffer>(mebibytes).fill(member));

  it.each(['ConnectEdge', 'AttestNode', 'ChallengeNode', 'RotateEdgeKey'])(
    'a message to %s that unpacks to 1 GiB is refused, and takes no memory for it',
    async (method) => {
      const packed = bomb(1_024);
      expect(packed.length).toBeLessThan(2 * mebibyte);
      const before = process.memoryUsage().rss;
      let most = 0;
      const look = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
      const code = await raw(method, [header(1, packed.length), packed]);
      clearInterval(look);
      most = Math.max(most, process.memoryUsage().rss);
      expect(code).toBe('RESOURCE_EXHAUSTED');
      expect(most - before).toBeLessThan(128 * mebibyte);
      // The relay continues.
      expect(await isOpen(await world.connected(relay.client, host))).toBe('open');
    },
    60_000,
  );

  it.each(['ConnectEdge', 'AttestNode'])('a message to %s that claims 4 GiB is refused at once', async (method) => {
    expect(await raw(method, [header(0, 2 ** 32 - 1), Buffer.alloc(1_024)])).toBe('RESOURCE_EXHAUSTED');
  });

  it('a message that is no gzip ends its call alone', async () => {
    const code = await raw('ConnectEdge', [header(1, 4), Buffer.from('none')]);
    expect(['INTERNAL', 'INVALID_ARGUMENT', 'CANCELLED']).toContain(code);
    expect(await isOpen(await world.connected(relay.client, host))).toBe('open');
  });
});

describe('many idle streams', () => {
  /** How long a stream has for its Hello, and a read of the API server for its answer. */
  const [helloMs, readMs] = [10_000, 8_000];

  it('2,000 of one host without a Hello: four wait for 10 s, the others end at once, and no other host is held up', async () => {
    const before = process.memoryUsage().rss;
    const { clock, pass } = holdSleeps(world.clock, helloMs);
    const { listener, client } = await world.relay({ clock });
    const clients = [world.client(listener.port), world.client(listener.port)];
    const idle = Array.from({ length: 2_000 }, (_, at) => world.open(clients[at % 2] ?? client, host));
    const codes: string[] = [];
    for (const { ended } of idle) void ended.then((code) => codes.push(code));
    const other = await world.enroll(client);
    const stream = await world.connected(client, other);
    await world.commands.drain(await world.address(other));
    await vi.waitFor(() => expect(stream.commands).toHaveLength(1), { timeout: 10_000 });
    await vi.waitFor(() => expect(codes).toHaveLength(1_996), { timeout: 40_000 });
    expect(new Set(codes)).toEqual(new Set(['RESOURCE_EXHAUSTED']));
    // Both ends are in this process.
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * mebibyte);
    pass(helloMs);
    await Promise.all(idle.map(({ ended }) => ended));
    expect(codes.slice(1_996)).toEqual(Array(4).fill('INVALID_ARGUMENT'));
    expect((await world.status(host))?.status).toBe('Disconnected');
    expect(await isOpen(stream)).toBe('open');
  }, 90_000);

  it('the API server is asked for no host that the relay knows, and one that does not answer holds up no place for long', async () => {
    const { clock, pass } = holdSleeps(world.clock, helloMs, readMs);
    const { client } = await world.relay({ clock });
    const find = vi.spyOn(world.hosts, 'find');
    const idle = Array.from({ length: 50 }, () => world.open(client, host));
    await vi.waitFor(async () => expect(await Promise.race(idle.map(({ ended }) => ended))).toBe('RESOURCE_EXHAUSTED'));
    expect(find).not.toHaveBeenCalled();
    const release = world.hosts.holdNews();
    const unknown = await world.enroll(client);
    find.mockClear().mockReturnValue(new Promise(() => undefined));
    const stuck = world.open(client, unknown);
    stuck.hello();
    await vi.waitFor(() => expect(find).toHaveBeenCalled());
    expect(await isOpen(stuck)).toBe('open');
    pass(readMs);
    expect(await Promise.race([stuck.ended, systemClock.sleep(5_000).then(() => 'late')])).toBe('UNAVAILABLE');
    find.mockRestore();
    release();
    await world.connected(client, unknown);
    // The places of the first host are free again, 10 s after they were taken.
    pass(helloMs);
    await Promise.all(idle.map(({ ended }) => ended));
    await world.connected(client, host);
  }, 30_000);

  it('EDGE-FLOW-29 EDGE-FLOW-22 a token that was replaced opens no stream where the relay has not heard of that yet', async () => {
    const release = world.hosts.holdNews();
    const stored = await world.hosts.find('acme', host.nodeId);
    if (stored?.object.status === undefined) throw new Error('the host has no status');
    await world.hosts.write(stored, { ...stored.object.status, token_jti: 'another' });
    const stream = world.open(relay.client, host);
    stream.hello();
    expect(await stream.ended).toBe('UNAUTHENTICATED');
    release();
  });

  it('of many hosts of one tenant leave places to another one, and come back when they are over', async () => {
    const { clock, pass } = holdSleeps(world.clock, helloMs);
    const few = await world.relay({ streamsMax: 20, clock });
    const hosts = [host];
    while (hosts.length < 5) hosts.push(await world.enroll(few.client));
    const theirs = await world.enroll(few.client, 'globex');
    // Four of each host, as many as one host may have before its Hello.
    const idle = hosts.flatMap((one) => Array.from({ length: 4 }, () => world.open(few.client, one)));
    const codes: string[] = [];
    for (const { ended } of idle) void ended.then((code) => codes.push(code));
    await vi.waitFor(() => expect(codes).toEqual(Array(4).fill('RESOURCE_EXHAUSTED')), { timeout: 5_000 });
    expect(await isOpen(await world.connected(few.client, theirs))).toBe('open');
    pass(helloMs);
    await Promise.all(idle.map(({ ended }) => ended));
    expect(codes.filter((code) => code === 'RESOURCE_EXHAUSTED')).toHaveLength(4);
    const own = await Promise.all(hosts.map((one) => world.connected(few.client, one)));
    expect(await Promise.all(own.map(isOpen))).toEqual(hosts.map(() => 'open'));
  }, 30_000);

  it('without a token they end at once', async () => {
    const idle = Array.from({ length: 200 }, () => world.open(relay.client, { ...host, token: '' }));
    const codes = await Promise.all(idle.map(({ ended }) => ended));
    expect(new Set(codes)).toEqual(new Set(['UNAUTHENTICATED']));
  });
});

describe('several headers authorization', () => {
  it.each<[what: string, given: (own: string, other: string) => string[]]>([
    ['with the token of the host first', (own, other) => [own, other]],
    ['with the token of the host last', (own, other) => [other, own]],
    ['that are alike', (own) => [own, own]],
    ['of which one has another scheme', (own) => [own, 'Basic eDp5']],
  ])('%s open no stream', async (_what, given) => {
    const other = await world.enroll(relay.client);
    expect(await raw('ConnectEdge', [], given(bearer(host.token), bearer(other.token)))).toBe('UNAUTHENTICATED');
  });
});

describe('results that are not a host’s own to give', () => {
  it('EDGE-FLOW-11 EDGE-AUTH-12 for commands of other hosts and other tenants are reported nowhere', async () => {
    const others = [await world.enroll(relay.client), await world.enroll(relay.client, 'globex')];
    const stream = await world.connected(relay.client, host);
    for (const other of others) {
      const claimed = await world.claim(other);
      result(stream, claimed.commandId);
      stream.send('commandProgress', fields(field(2, claimed.commandId), field(3, field(1, 'forged'))));
      await vi.waitFor(() => expect(acknowledged(stream)).toContain(claimed.commandId));
      expect(await world.news(claimed, 0, other.answer.text(8))).toEqual([]);
      expect((await world.commands.recordOf(claimed.commandId))?.ended).toBeUndefined();
      // The host whose command it is still reports it.
      const own = await world.connected(relay.client, other);
      result(own, claimed.commandId);
      expect(await world.news(claimed, 1, other.answer.text(8))).toHaveLength(1);
    }
    expect(await isOpen(stream)).toBe('open');
  });

  it('EDGE-FLOW-11 for finished commands do not change how they ended, from the same stream, a later one, or another relay', async () => {
    const claimed = await world.claim(host);
    const first = await world.connected(relay.client, host);
    result(first, claimed.commandId);
    await vi.waitFor(() => expect(acknowledged(first)).toEqual([claimed.commandId]));
    result(first, claimed.commandId, err);
    await vi.waitFor(() => expect(acknowledged(first)).toHaveLength(2));
    const elsewhere = await world.relay();
    const second = world.open(elsewhere.client, host);
    second.hello();
    expect(await first.ended).toBe('ABORTED');
    result(second, claimed.commandId, err);
    second.send('commandProgress', fields(field(2, claimed.commandId), field(3, field(1, 'late'))));
    await vi.waitFor(() => expect(acknowledged(second)).toEqual([claimed.commandId]));
    expect(await world.news(claimed, 1)).toMatchObject([{ kind: 'result', result: { outcome: 'ok' } }]);
  });

  it('are one line of the log in a minute, with their count', async () => {
    const logged: unknown[] = [];
    const warn = (facts: unknown, text: string): void => void (text.startsWith('message for') && logged.push(facts));
    const own = await world.relay({ logger: { ...silentLogger, warn } as Logger });
    const stream = await world.connected(own.client, host);
    for (let at = 0; at < 100; at += 1) result(stream, `nothing-${at}`);
    await vi.waitFor(() => expect(acknowledged(stream)).toHaveLength(100), 20_000);
    expect(logged).toEqual([{ node: host.nodeId, isKnown: false, count: 1 }]);
    world.steadyAheadMs = 60_000;
    result(stream, 'nothing');
    await vi.waitFor(() => expect(logged).toHaveLength(2));
    expect(logged[1]).toMatchObject({ count: 100 });
  });

  it.each(['', 'nothing', '../../x', 'A.B.*', '>', 'x'.repeat(4_096)])(
    'for a command of the id %j are acknowledged and dropped',
    async (commandId) => {
      const stream = await world.connected(relay.client, host);
      result(stream, commandId);
      await vi.waitFor(() => expect(acknowledged(stream)).toEqual([commandId]));
      expect(await isOpen(stream)).toBe('open');
    },
  );
});

describe('a host that says that it is drained', () => {
  const drained = (stream: WireStream): void =>
    void stream.send('commandProgress', field(3, field(3, field(1, 'drained'))));

  it('AMB-010 a hundred times is one line of the log for each drain, and one in a minute without an order', async () => {
    const logged: string[] = [];
    const log = (_facts: unknown, text: string): void => void (text.includes('host') && logged.push(text));
    const own = await world.relay({ logger: { ...silentLogger, warn: log, info: log } as Logger });
    let stream = await world.connected(own.client, host);
    const flood = async (last: string): Promise<void> => {
      for (let at = 0; at < 100; at += 1) drained(stream);
      result(stream, last);
      await vi.waitFor(() => expect(acknowledged(stream)).toContain(last), 20_000);
    };
    const strange = 'message for a command that the host does not have';
    await flood('first');
    expect(logged).toEqual([strange]);
    world.hosts.drain('acme', host.nodeId);
    await world.commands.drain(await world.address(host));
    await vi.waitFor(() => expect(stream.commands.some((command) => command.numbers.includes(4))).toBe(true));
    await flood('second');
    expect(logged).toEqual([strange, 'host drained']);
    // The next stream gets the order again.
    stream = world.open(own.client, host);
    stream.hello();
    await vi.waitFor(() => expect(stream.commands.some((command) => command.numbers.includes(4))).toBe(true));
    await flood('third');
    expect(logged.filter((text) => text === 'host drained')).toHaveLength(1);
  });
});

describe('output of a command', () => {
  it('EDGE-FLOW-10 has 64 KiB in all, also over streams that follow one another', async () => {
    const claimed = await world.claim(host);
    for (let turn = 0; turn < 4; turn += 1) {
      const stream = await world.connected(relay.client, host);
      const chunk = field(3, field(1, 'x'.repeat(30_000)));
      stream.send('commandProgress', fields(field(2, claimed.commandId), chunk));
      result(stream, 'nothing');
      await vi.waitFor(() => expect(acknowledged(stream)).toEqual(['nothing']), { timeout: 5_000 });
    }
    // The third is cut, and the fourth is dropped.
    const data = (bytes: number) => ({ stream: 'stdout', data: Buffer.alloc(bytes, 'x').toString('base64') });
    const chunks = [data(30_000), data(30_000), data(5_536), { cut: true }];
    expect(await world.news(claimed, 4)).toMatchObject(chunks.map((chunk) => ({ chunk })));
  });
});

describe('output of 257 commands in flight', () => {
  it('EDGE-FLOW-10 gives none of them more than its 64 KiB', async () => {
    const stream = await world.connected(relay.client, host);
    const all = await Promise.all(Array.from({ length: 257 }, () => world.claim(host)));
    const write = (of: (typeof all)[number] | undefined, bytes: number): void =>
      void stream.send(
        'commandProgress',
        fields(field(2, of?.commandId ?? ''), field(3, field(1, Buffer.alloc(bytes, 'x')))),
      );
    const [first] = all;
    const last = all.at(-1);
    if (first === undefined || last === undefined) throw new Error('no commands');
    write(first, 65_536);
    for (const claimed of all.slice(1)) write(claimed, 1);
    write(first, 1);
    expect(await world.news(first, 2)).toMatchObject([{ chunk: { stream: 'stdout' } }, { chunk: { cut: true } }]);
    expect(await world.news(last, 1)).toMatchObject([{ chunk: { cut: true } }]);
  }, 60_000);
});

describe('a host that is revoked in mid-command', () => {
  it('EDGE-FLOW-18 EDGE-FLOW-11 reports nothing any more, and comes back nowhere', async () => {
    const other = await world.relay();
    const stream = await world.connected(relay.client, host);
    const claimed = await world.claim(host);
    const of = { commandId: claimed.commandId, run: claimed.run, tool: 'cmd.run', args: {}, context: 'd', token: 't' };
    await world.commands.send(await world.address(host), { ...of, deadlineMs: 1_000 });
    await vi.waitFor(() => expect(stream.commands).toHaveLength(1));
    stream.send('commandProgress', fields(field(2, claimed.commandId), field(3, field(1, 'begun'))));
    await world.news(claimed, 1);
    world.hosts.revoke('acme', host.nodeId);
    result(stream, claimed.commandId);
    expect(await stream.ended).toBe('PERMISSION_DENIED');
    for (const { client } of [relay, other]) {
      const again = world.open(client, host);
      again.hello();
      result(again, claimed.commandId);
      expect(await again.ended).toBe('PERMISSION_DENIED');
    }
    expect(await world.news(claimed, 1)).toMatchObject([{ kind: 'progress' }]);
    const again = world.commands.send(await world.address(host), { ...of, deadlineMs: 1_000 });
    await expect(again).rejects.toMatchObject({ reason: 'EdgeUnavailable' });
    await world.becomes(host, 'Revoked');
  });
});

describe('a host whose Hello comes late', () => {
  it('gets its stream where the relay was too busy to hear it in time', async () => {
    const { promise: passed, resolve: pass } = Promise.withResolvers<void>();
    const sleep: Clock['sleep'] = (ms, signal) => (ms === 10_000 ? passed : systemClock.sleep(ms, signal));
    let lateMs = 0;
    const steadyMs = () => systemClock.steadyMs() + lateMs;
    const { client } = await world.relay({ clock: { ...world.clock, sleep, steadyMs } });
    const stream = world.open(client, host);
    await systemClock.sleep(300);
    // The relay wakes six seconds late.
    lateMs = 16_000;
    pass();
    expect(await isOpen(stream)).toBe('open');
    stream.hello();
    await world.becomes(host, 'Connected');
    expect(await isOpen(stream)).toBe('open');
  });

  it.each([
    ['revoked', 'PERMISSION_DENIED'],
    ['deleted', 'PERMISSION_DENIED'],
  ])('EDGE-FLOW-18 gets no stream where it was %s between its token and its Hello', async (what, code) => {
    const stream = world.open(relay.client, host);
    await systemClock.sleep(300);
    if (what === 'revoked') world.hosts.revoke('acme', host.nodeId);
    else world.hosts.remove('acme', host.nodeId);
    stream.hello();
    const claimed = await world.claim(host);
    result(stream, claimed.commandId);
    expect(await stream.ended).toBe(code);
    expect(await world.news(claimed, 0)).toEqual([]);
    expect((await world.status(host))?.status).toBe(what === 'revoked' ? 'Revoked' : undefined);
  });
});

describe('a recorded stream', () => {
  it('AMB-011 that is sent again opens nothing, and ends no stream that is open', async () => {
    const other = await world.relay();
    const first = world.open(relay.client, host);
    const hello = first.hello();
    await world.becomes(host, 'Connected');
    const claimed = await world.claim(host);
    const bytes = first.send('commandResult', fields(field(2, claimed.commandId), err));
    await vi.waitFor(() => expect(acknowledged(first)).toEqual([claimed.commandId]));
    const replay = async (client: Client): Promise<string> => {
      const stream = world.open(client, host);
      stream.raw(hello);
      stream.raw(bytes);
      return stream.ended;
    };
    for (const { client } of [relay, other]) expect(await replay(client)).toBe('UNAUTHENTICATED');
    expect(await isOpen(first)).toBe('open');
    first.close();
    await vi.waitFor(async () => expect(relay.streams.get((await world.address(host)).hostUid)).toBeUndefined());
    for (const { client } of [relay, other]) expect(await replay(client)).toBe('UNAUTHENTICATED');
    // Also when another one has been open since, and its entry was renewed.
    const second = await world.connected(other.client, host);
    world.aheadMs = edgeBuckets.streams.ttlMs / 2;
    await other.streams.renewEntries();
    world.aheadMs = 0;
    for (const { client } of [relay, other]) expect(await replay(client)).toBe('UNAUTHENTICATED');
    expect(await isOpen(second)).toBe('open');
    await world.commands.drain(await world.address(host));
    await vi.waitFor(() => expect(second.commands).toHaveLength(1));
  });

  it('AMB-011 of long ago is refused by its time', async () => {
    const first = world.open(relay.client, host);
    const hello = first.hello();
    await world.becomes(host, 'Connected');
    first.close();
    world.aheadMs = 301_000;
    const again = world.open(relay.client, host);
    again.raw(hello);
    expect(await again.ended).toBe('UNAUTHENTICATED');
  });
});

describe('clocks that jump', () => {
  it.each([
    [-301_000, 'UNAUTHENTICATED'],
    [-299_000, 'open'],
    [299_000, 'open'],
    [301_000, 'UNAUTHENTICATED'],
  ])('EDGE-FLOW-05 a message that is %d ms off is answered with %s', async (ms, want) => {
    const stream = await world.connected(relay.client, host);
    stream.heartbeat({ now: Date.now() + ms });
    expect(await isOpen(stream)).toBe(want);
  });

  it('the clock of the relay ahead by an hour, and back: the result counts once, nothing is marked Unhealthy', async () => {
    const stream = await world.connected(relay.client, host);
    const claimed = await world.claim(host);
    world.aheadMs = 3_600_000;
    await relay.streams.checkHeartbeats();
    expect((await world.status(host))?.status).toBe('Connected');
    result(stream, claimed.commandId);
    expect(await stream.ended).toBe('UNAUTHENTICATED');
    expect(await world.news(claimed, 0)).toEqual([]);
    world.aheadMs = 0;
    const again = await world.connected(relay.client, host);
    for (let time = 0; time < 2; time += 1) result(again, claimed.commandId);
    await vi.waitFor(() => expect(acknowledged(again)).toHaveLength(2));
    expect(await world.news(claimed, 1)).toHaveLength(1);
  });

  it('the clock of the relay back by a day: tokens that it issued before still open streams', async () => {
    const stream = await world.connected(relay.client, host);
    world.aheadMs = -86_400_000;
    stream.heartbeat();
    expect(await stream.ended).toBe('UNAUTHENTICATED');
    const again = world.open(relay.client, host);
    const streamId = field(3, again.streamId);
    again.send('hello', streamId, { now: world.clock.now() });
    again.heartbeat({ now: world.clock.now() });
    expect(await isOpen(again)).toBe('open');
  });
});

import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { type HeapProfiler, Session } from 'node:inspector/promises';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  ServerCredentials,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authority, type Issued, makeAuthority } from '../../../test/builders/x509.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { createHealth } from '../health.ts';
import { type GrpcListener, listenGrpc } from '../listen-grpc.ts';
import { MutualTls } from '../mutual-tls.ts';
import { sized } from '../sized.ts';
import { type HandleStream, type ServerStream, type StreamOptions, serveStream } from './serve-stream.ts';

/** Long streams between real peers over TLS on loopback. */
const method = {
  path: '/test.Talk/Talk',
  requestStream: true,
  responseStream: true,
  requestSerialize: (text: string) => Buffer.from(text),
  requestDeserialize: (bytes: Buffer) => bytes.toString(),
  responseSerialize: (text: string) => Buffer.from(text),
  responseDeserialize: (bytes: Buffer) => bytes.toString(),
};
/** Headers of a call by a peer that writes its own frames. */
const rawHeaders = {
  [constants.HTTP2_HEADER_METHOD]: 'POST',
  [constants.HTTP2_HEADER_PATH]: method.path,
  'content-type': 'application/grpc',
  te: 'trailers',
};
const serverBytes = 256 * 1024;
const methodBytes = 64 * 1024;

let authority: Authority;
let stranger: Authority;
let listener: GrpcListener;
let port = 0;
let handle: HandleStream<string, string>;
const served: ServerStream<string, string>[] = [];
const codes: string[] = [];
let open = 0;
const clients: Client[] = [];

beforeAll(() => {
  authority = makeAuthority();
  stranger = makeAuthority('stranger');
});

async function start(options: Partial<StreamOptions> = {}, onPort = 0, keepAliveMs = 60_000): Promise<void> {
  const { cert, key } = authority.issue({
    commonName: 'relay',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
    purpose: 'server',
  });
  const draining = new AbortController();
  const deps = {
    clock: systemClock,
    logger: silentLogger,
    newId,
    metrics: { callDone: ({ code }: { readonly code: string }) => void codes.push(code) },
    draining: draining.signal,
    onOpen: (_: string, now: number) => void (open = now),
  };
  const run: HandleStream<string, string> = (stream) => {
    served.push(stream);
    return handle(stream);
  };
  const talk = serveStream(deps, { operation: 'talk', certificate: 'optional', ...options }, run);
  const strict = serveStream(deps, { operation: 'strict', certificate: 'required' }, run);
  listener = await listenGrpc({
    clock: systemClock,
    port: onPort,
    host: '127.0.0.1',
    credentials: new MutualTls({ cert, key, ca: authority.cert }, 'optional'),
    health: createHealth([]),
    maxMessageBytes: serverBytes,
    onDrain: () => draining.abort(),
    connections: { ageMs: 'none', keepAliveMs, keepAliveTimeoutMs: 300 },
    services: [
      {
        definition: { talk: sized(method, methodBytes), strict: { ...method, path: '/test.Talk/Strict' } },
        implementation: { talk, strict },
      },
    ],
  });
  port = listener.port;
}

beforeEach(async () => {
  handle = echo;
  await start();
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await listener.close(AbortSignal.abort());
  served.length = 0;
  codes.length = 0;
});

const echo: HandleStream<string, string> = async (stream) => {
  for await (const message of stream.messages) await stream.send(`${message}!`);
};

function client(own?: Issued, options: Record<string, unknown> = {}, at = port): Client {
  const pair = own === undefined ? [null, null] : [Buffer.from(own.key), Buffer.from(own.cert)];
  const made = new Client(`localhost:${at}`, credentials.createSsl(Buffer.from(authority.cert), pair[0], pair[1]), {
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  });
  clients.push(made);
  return made;
}

interface Talk {
  readonly call: ClientDuplexStream<string, string>;
  readonly got: string[];
  readonly ended: Promise<StatusObject>;
}

function talk(on: Client, path = method.path, metadata = new Metadata(), options = {}): Talk {
  const call = on.makeBidiStreamRequest(path, method.requestSerialize, method.responseDeserialize, metadata, options);
  const got: string[] = [];
  call.on('data', (text: string) => got.push(text)).on('error', () => undefined);
  const ended = new Promise<StatusObject>((resolve) => call.once('status', resolve));
  return { call, got, ended };
}

async function eventually(done: () => boolean, timeoutMs = 15_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!done()) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${String(done)}`);
    await systemClock.sleep(10);
  }
}

const host = (): Issued => authority.issue({ commonName: 'host-1', uris: ['windlass://host/h1'] });

describe('a stream', () => {
  it('carries messages in both directions, in order, to its end', async () => {
    const { call, got, ended } = talk(client());
    for (let i = 0; i < 1_000; i += 1) call.write(String(i));
    call.end();
    expect((await ended).code).toBe(status.OK);
    expect(got).toEqual(Array.from({ length: 1_000 }, (_, i) => `${i}!`));
    await eventually(() => open === 0);
    expect(codes).toEqual(['OK']);
  });

  it.each<[string, unknown, Partial<StatusObject>]>([
    ['an error of its own', new AppError('conflict', 'a newer stream of this host'), { code: status.ABORTED }],
    ['a fault', new Error('secret'), { code: status.INTERNAL }],
  ])('ends with the status of %s', async (_what, thrown, want) => {
    handle = () => Promise.reject(thrown);
    const { ended } = talk(client());
    const got = await ended;
    expect(got).toMatchObject(want);
    expect(got.details).not.toContain('secret');
  });

  it('whose connection is lost never looks like one that its client has ended', async () => {
    let problem: unknown;
    handle = async (stream) => {
      try {
        await echo(stream);
      } catch (error) {
        problem = error;
        throw error;
      }
    };
    const session = connectHttp2(`https://localhost:${port}`, { ca: authority.cert });
    session.on('error', () => undefined);
    session.request(rawHeaders).on('error', () => undefined);
    await eventually(() => open === 1);
    session.destroy();
    await eventually(() => open === 0);
    expect(problem).toMatchObject({ code: 'cancelled' });
    expect(codes).toEqual(['CANCELLED']);
    expect(served[0]?.signal.aborted).toBe(true);
    await expect(served[0]?.send('x')).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends at the deadline of its client', async () => {
    handle = ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    const { ended } = talk(client(), method.path, new Metadata(), { deadline: Date.now() + 300 });
    expect((await ended).code).toBe(status.DEADLINE_EXCEEDED);
    await eventually(() => open === 0);
  });

  it('beyond those that an operation holds is refused, and the next one is not', async () => {
    await listener.close(AbortSignal.abort());
    await start({ atOnce: 2 });
    const on = client();
    const held = [talk(on), talk(on)];
    await eventually(() => open === 2);
    expect(await talk(on).ended).toMatchObject({ code: status.UNAVAILABLE });
    held[0]?.call.end();
    await held[0]?.ended;
    const next = talk(on);
    next.call.write('x');
    await eventually(() => next.got.length === 1);
  });

  it('gives a header once, as it was sent, and joins those that were sent twice', async () => {
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer a');
    metadata.add('twice', '1');
    metadata.add('twice', '2');
    const { call, got } = talk(client(), method.path, metadata);
    call.write('x');
    await eventually(() => got.length === 1);
    expect(['authorization', 'twice', 'absent'].map((name) => served[0]?.takeHeader(name))).toEqual([
      'Bearer a',
      '1, 2',
      undefined,
    ]);
    expect(served[0]?.takeHeader('authorization')).toBeUndefined();
  });
});

it('gives every value of authorization, of which Node shows the first alone', async () => {
  // Node sends a single header twice. Its types do not have the option yet.
  const anyHeaders: object = { strictSingleValueFields: false };
  const session = connectHttp2(`https://localhost:${port}`, { ca: authority.cert, ...anyHeaders });
  try {
    const own = { ...rawHeaders, ':scheme': 'https', ':authority': 'localhost' };
    const twice = ['authorization', 'Bearer a', 'authorization', 'Bearer b'];
    session.request([...Object.entries(own).flat(), ...twice]).on('error', () => undefined);
    await eventually(() => served.length === 1);
    expect(served[0]?.takeHeader('authorization')).toBe('Bearer a, Bearer b');
  } finally {
    session.destroy();
  }
});

describe('a stream that is silent', () => {
  it('keeps nothing of the message that its handler has read', async () => {
    await listener.close(AbortSignal.abort());
    const read: WeakRef<Buffer>[] = [];
    // The message lies in the memory of the chunk that came from the connection, or of the pool of Node.
    const definition = { ...method, requestDeserialize: (bytes: Buffer) => (read.push(new WeakRef(bytes)), bytes) };
    let internals: unknown;
    const count: HandleStream<Buffer, string> = async (stream) => {
      for (let isOpen = true; isOpen; ) isOpen = (await stream.messages[Symbol.asyncIterator]().next()).done !== true;
    };
    const deps = { clock: systemClock, logger: silentLogger, newId, draining: new AbortController().signal };
    const serve = serveStream(deps, { operation: 'talk', certificate: 'optional' }, count);
    listener = await listenGrpc({
      clock: systemClock,
      port: 0,
      host: '127.0.0.1',
      credentials: ServerCredentials.createInsecure(),
      health: createHealth([]),
      maxMessageBytes: serverBytes,
      services: [
        {
          definition: { talk: definition },
          implementation: { talk: (call: unknown) => serve((internals = call) as never) },
        },
      ],
    });
    const on = new Client(`127.0.0.1:${listener.port}`, credentials.createInsecure());
    clients.push(on);
    const { call } = talk(on);
    for (let turn = 1; turn <= 20; turn += 1) {
      call.write('x'.repeat(1_000));
      await eventually(() => read.length === turn);
    }
    await systemClock.sleep(0);
    collectGarbage();
    expect(read.filter((message) => message.deref() !== undefined)).toEqual([]);
    expect(decoderOf(internals)?.readPartialMessage).toEqual([]);
  });
});

/** The decoder of a server call of grpc-js, which keeps the parts of the last message until the next one begins. */
function decoderOf(call: unknown): { readonly readPartialMessage: unknown } | undefined {
  type Inside = {
    readonly call?: Inside;
    readonly nextCall?: Inside;
    readonly decoder?: { readPartialMessage: unknown };
  };
  for (let inside = call as Inside | undefined; inside !== undefined; inside = inside.call ?? inside.nextCall)
    if (inside.decoder !== undefined) return inside.decoder;
  return undefined;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Bytes in use that the functions of a file have allocated, or what they called. */
function keptBy(file: string, node: HeapProfiler.SamplingHeapProfileNode, isWithin = false): number {
  const isOfFile = isWithin || node.callFrame.url.endsWith(file);
  return node.children.reduce((sum, child) => sum + keptBy(file, child, isOfFile), isOfFile ? node.selfSize : 0);
}

describe('back-pressure', () => {
  it('waits for its next message with one promise beside those of its handler', async () => {
    const promises = (): number => queryObjects(Promise, { format: 'count' });
    const many = 50;
    let waiting = 0;
    handle = async ({ messages }) => {
      const each = messages[Symbol.asyncIterator]();
      await each.next();
      waiting += 1;
      await each.next();
    };
    const on = client();
    talk(on).call.write('x');
    await eventually(() => waiting === 1);
    const before = promises();
    for (let index = 0; index < many; index += 1) talk(on).call.write('x');
    await eventually(() => waiting === many + 1);
    // That of the handler, of the call around it, and `ended` of this test.
    expect((promises() - before) / many).toBeLessThan(4.5);
  });

  it('hands on one message after the other, and leaves nothing of its waits behind', async () => {
    const many = 50;
    let taken = 0;
    handle = (stream) => stream.each(async () => void (taken += 1));
    const on = client();
    const calls = Array.from({ length: many }, () => talk(on).call);
    const say = async (all: number): Promise<void> => {
      for (const call of calls) call.write('x');
      await eventually(() => taken === all);
    };
    await say(many);
    const inspector = new Session();
    inspector.connect();
    await inspector.post('HeapProfiler.startSampling', { samplingInterval: 16 });
    await say(2 * many);
    collectGarbage();
    const { profile } = await inspector.post('HeapProfiler.stopSampling');
    inspector.disconnect();
    // A promise for each wait, with its functions, takes 260.
    expect(keptBy('message-pipe.ts', profile.head) / many).toBeLessThan(130);
  });

  it('slows down a client whose messages no handler reads', async () => {
    const release = Promise.withResolvers<void>();
    handle = async (stream) => {
      await release.promise;
      await echo(stream);
    };
    const { call, got } = talk(client());
    const block = 'x'.repeat(32 * 1024);
    let written = 0;
    let isFull = false;
    const write = (): void => {
      while (written < 2_000 && call.write(block)) written += 1;
      isFull = written < 2_000;
    };
    call.on('drain', write);
    write();
    await systemClock.sleep(500);
    // Windows of HTTP/2 and buffers of both sides take some hundred messages at most, not all 64 MiB.
    expect(isFull).toBe(true);
    expect(written).toBeLessThan(500);
    release.resolve();
    await eventually(() => got.length > 500);
  });

  it('lets a handler wait for a client that does not read, and cuts that client off in the end', async () => {
    await listener.close(AbortSignal.abort());
    await start({ sendMs: 500 });
    let sent = 0;
    let problem: unknown;
    handle = async (stream) => {
      try {
        for (;;) {
          await stream.send('x'.repeat(64 * 1024));
          sent += 1;
        }
      } catch (error) {
        problem = error;
        throw error;
      }
    };
    const session = connectHttp2(`https://localhost:${port}`, { ca: authority.cert });
    const stream = session.request(rawHeaders);
    const closed = new Promise<number>((resolve) => stream.once('close', () => resolve(stream.rstCode)));
    stream.on('error', () => undefined);
    await eventually(() => problem !== undefined);
    expect(problem).toMatchObject({ code: 'limit_exceeded' });
    // 64 KiB each, which is what the window of HTTP/2 holds: no more of them wait here.
    expect(sent).toBeLessThan(2);
    await eventually(() => open === 0);
    stream.resume();
    expect(await closed).toBe(constants.NGHTTP2_CANCEL);
    session.destroy();
  });
});

describe('a message', () => {
  it.each([
    [methodBytes - 1, status.OK],
    [methodBytes, status.OK],
    [methodBytes + 1, status.RESOURCE_EXHAUSTED],
    [serverBytes + 1, status.RESOURCE_EXHAUSTED],
  ])('of %d bytes ends a stream of a method that takes 65536 with %d', async (bytes, code) => {
    const { call, ended } = talk(client());
    call.write('x'.repeat(bytes));
    call.end();
    expect((await ended).code).toBe(code);
  });

  it.each([
    [serverBytes, status.OK],
    [serverBytes + 1, status.RESOURCE_EXHAUSTED],
  ])('of %d bytes ends a stream of a method without a bound of its own with %d', async (bytes, code) => {
    const { call, ended } = talk(client(host()), '/test.Talk/Strict');
    call.write('x'.repeat(bytes));
    call.end();
    expect((await ended).code).toBe(code);
  });

  it('that unpacks to 200 MiB is refused before it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
    expect(bomb.byteLength).toBeLessThan(serverBytes);
    const frame = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), bomb]);
    frame.writeUInt32BE(bomb.byteLength, 1);
    const before = process.memoryUsage().rss;
    const answer = await rawCall(frame, { 'grpc-encoding': 'gzip' });
    expect(answer['grpc-status']).toBe(String(status.RESOURCE_EXHAUSTED));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('that says it has 4 GiB is refused at its first bytes', async () => {
    const answer = await rawCall(Buffer.from([0, 255, 255, 255, 255, 1, 2, 3]), {});
    expect(answer['grpc-status']).toBe(String(status.RESOURCE_EXHAUSTED));
  });

  /** A call by a peer that writes its own frames. Gives the last headers of the answer. */
  async function rawCall(body: Buffer, headers: Record<string, string>): Promise<Record<string, unknown>> {
    const session = connectHttp2(`https://localhost:${port}`, { ca: authority.cert });
    try {
      const stream: ClientHttp2Stream = session.request({ ...rawHeaders, ...headers });
      const answer = new Promise<Record<string, unknown>>((resolve, reject) => {
        stream.on('response', (first) => (first['grpc-status'] === undefined ? undefined : resolve({ ...first })));
        stream.on('trailers', (last) => resolve({ ...last }));
        stream.on('error', reject);
      });
      stream.resume();
      stream.write(body);
      return await answer;
    } finally {
      session.destroy();
    }
  }
});

describe('a certificate', () => {
  it('of our authority tells the handler who the client is', async () => {
    const { call, got } = talk(client(host()));
    call.write('x');
    await eventually(() => got.length === 1);
    expect(served[0]?.peer).toEqual({ commonName: 'host-1', uris: ['windlass://host/h1'] });
  });

  it.each<[string, () => Issued | undefined]>([
    ['none', () => undefined],
    [
      'one of another authority that names a host of ours',
      () => stranger.issue({ commonName: 'host-1', uris: ['windlass://host/h1'] }),
    ],
  ])('%s: the service that needs none sees no client, the other one refuses', async (_what, own) => {
    const on = client(own());
    const { call, got } = talk(on);
    call.write('x');
    await eventually(() => got.length === 1);
    expect(served[0]?.peer).toBeUndefined();
    expect((await talk(on, '/test.Talk/Strict').ended).code).toBe(status.UNAUTHENTICATED);
    expect(served).toHaveLength(1);
  });

  it('of our authority opens the service that needs one', async () => {
    const { call, got } = talk(client(host()), '/test.Talk/Strict');
    call.write('x');
    await eventually(() => got.length === 1);
    expect(got).toEqual(['x!']);
  });
});

describe('a server that stops', () => {
  it('tells each stream, takes no new ones, and waits until they have said goodbye', async () => {
    handle = async (stream) => {
      await new Promise<void>((resolve) => stream.draining.addEventListener('abort', () => resolve()));
      await stream.send('goodbye');
    };
    const [one, two] = [talk(client()), talk(client())];
    await eventually(() => open === 2);
    await listener.close(new AbortController().signal);
    expect((await Promise.all([one.ended, two.ended])).map(({ code }) => code)).toEqual([status.OK, status.OK]);
    expect([one.got, two.got]).toEqual([['goodbye'], ['goodbye']]);
    expect((await talk(client()).ended).code).toBe(status.UNAVAILABLE);
  });

  it('breaks off after its grace the streams that do not end', async () => {
    handle = ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    const { ended } = talk(client());
    await eventually(() => open === 1);
    const grace = new AbortController();
    const closed = listener.close(grace.signal);
    await systemClock.sleep(200);
    expect(open).toBe(1);
    grace.abort();
    await closed;
    expect((await ended).code).not.toBe(status.OK);
    await eventually(() => open === 0);
  });
});

describe('a connection', () => {
  it('over which nothing comes any more, not even the answer to a ping, ends its streams', async () => {
    await listener.close(AbortSignal.abort());
    await start({}, 0, 200);
    const proxy = createServer((socket) => {
      const upstream = connectTcp(port, '127.0.0.1');
      sockets.push(socket, upstream);
      for (const end of [socket, upstream]) end.on('error', () => undefined);
      socket.pipe(upstream).pipe(socket);
    });
    const sockets: Socket[] = [];
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const at = (proxy.address() as AddressInfo).port;
    const { call, got } = talk(client(undefined, {}, at));
    call.write('x');
    await eventually(() => got.length === 1);
    for (const socket of sockets) socket.unpipe().pause();
    await eventually(() => served[0]?.signal.aborted === true, 5_000);
    await eventually(() => open === 0);
    for (const socket of sockets) socket.destroy();
    proxy.close();
    expect(codes).toEqual(['CANCELLED']);
  });
});

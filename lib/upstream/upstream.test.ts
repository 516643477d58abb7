import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createUpstream, type Upstream, type UpstreamRequest, upstreamLimits } from './index.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

const seen: Seen[] = [];
const sockets = new Set<Socket>();
let connections = 0;
let answer: (request: Seen, response: ServerResponse) => void = (_, response) => response.end('{}');
const listener: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    const entry = { method, url, headers, body: Buffer.concat(chunks).toString() };
    seen.push(entry);
    answer(entry, response);
  });
};
let server: Server;
let port: number;
let upstream: Upstream;
let resolved: string[] = ['127.0.0.1'];
let lookups = 0;

beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 60_000 }, listener).listen(0, '127.0.0.1');
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen.length = 0;
  connections = 0;
  lookups = 0;
  resolved = ['127.0.0.1'];
  answer = (_, response) => response.end('{}');
  const resolve = async () => {
    lookups += 1;
    return resolved.map((address) => ({ address, family: 4 }));
  };
  upstream = createUpstream({ clock: systemClock, resolve });
});
afterEach(() => upstream.close());

const request = (fields: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  tenant: 'acme',
  method: 'GET',
  server: `http://127.0.0.1:${port}`,
  path: '/things',
  headers: { 'content-type': 'application/json' },
  body: '{}',
  allowedNetworks: ['127.0.0.0/8'],
  responseBytes: 10_000,
  signal: AbortSignal.timeout(5_000),
  ...fields,
});

describe('createUpstream', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'])(
    'AMB-021 GW-WF-08 sends the body with %s, byte by byte',
    async (method) => {
      const body = '{ "a":\t[1.0, "ä€😀"] }\n';
      await upstream.send(request({ method, body }));
      expect(seen).toMatchObject([{ method, body, headers: { 'content-length': String(Buffer.byteLength(body)) } }]);
    },
  );

  it.each([
    ['', '/things/{id}', '/things/{id}'],
    ['/base', '/a/../b//c', '/base/a/../b//c'],
    ['/base/v1/', '/%7Bx%7D', '/base/v1/%7Bx%7D'],
    ['/b', '/ä b', '/b/%C3%A4%20b'],
    ['', '/q?k=a%20b', '/q?k=a%20b'],
    ['', '//other.example/x', '//other.example/x'],
  ])('GW-WF-24 joins %j and %j literally', async (base, path, want) => {
    await upstream.send(request({ server: `http://127.0.0.1:${port}${base}`, path }));
    expect(seen.map(({ url }) => url)).toEqual([want]);
  });

  it.each(['GET', 'POST'])('uses its connections again with %s, of one tenant and for no other', async (method) => {
    for (let count = 0; count < 20; count += 1) await upstream.send(request({ method }));
    // The next request may come before the connection has heard of the end of the last one.
    expect(connections).toBeLessThanOrEqual(3);
    const before = connections;
    await upstream.send(request({ method, tenant: 'globex' }));
    expect(connections).toBe(before + 1);
  });

  it('reads no body of an answer to HEAD, however its headers describe one', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-length': '20' };
    answer = (_, response) => response.writeHead(200, headers).end();
    const { status, body } = await upstream.send(request({ method: 'HEAD' }));
    expect([status, body.length]).toEqual([200, 0]);
  });

  it('AMB-126 follows no redirect', async () => {
    answer = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end('{"moved":true}');
    const { status, body } = await upstream.send(request());
    expect([status, body.toString(), seen.length]).toEqual([302, '{"moved":true}', 1]);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('unpacks %s up to the limit, and no byte more', async (coding, pack) => {
    const send = (bytes: number) => {
      answer = (_, response) => response.setHeader('content-encoding', coding).end(pack(Buffer.alloc(bytes, 'a')));
      return upstream.send(request());
    };
    expect((await send(9_999)).body.length).toBe(9_999);
    expect((await send(10_000)).body.length).toBe(10_000);
    await expect(send(10_001)).rejects.toMatchObject({
      code: 'limit_exceeded',
      reason: 'ResponseTooLarge',
      status: 200,
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('ends a bomb of %s with little memory', async (coding, pack) => {
    const bomb = pack(Buffer.alloc(64 * 1024 * 1024));
    answer = (_, response) => response.setHeader('content-encoding', coding).end(bomb);
    const before = process.memoryUsage().rss;
    await expect(upstream.send(request({ responseBytes: 1024 * 1024 }))).rejects.toMatchObject({
      code: 'limit_exceeded',
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 * 1024);
  });

  it.each(['gzip, gzip', 'zstd', 'compress'])('refuses a body packed as %s', async (coding) => {
    answer = (_, response) => response.setHeader('content-encoding', coding).end(gzipSync('{}'));
    await expect(upstream.send(request())).rejects.toMatchObject({ code: 'unavailable', status: 200 });
  });

  it('refuses a body that does not unpack', async () => {
    answer = (_, response) => response.setHeader('content-encoding', 'gzip').end('{}');
    await expect(upstream.send(request())).rejects.toMatchObject({ code: 'unavailable', status: 200 });
  });

  it('bounds headers', async () => {
    answer = (_, response) => {
      for (let index = 0; index < 20; index += 1) response.setHeader(`x-${index}`, 'v'.repeat(5_000));
      response.end('{}');
    };
    await expect(upstream.send(request())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it.each([
    ['never answers', () => undefined],
    ['never ends', (response: ServerResponse) => void response.write('{')],
    [
      'drips for ever',
      (response: ServerResponse) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('ends an upstream that %s by the deadline', async (_title, act) => {
    const deadline = new AbortController();
    answer = (_, response) => {
      act(response);
      deadline.abort(new DOMException('the time is up', 'TimeoutError'));
    };
    const sent = upstream.send(request({ signal: deadline.signal }));
    await expect(sent).rejects.toMatchObject({ code: 'timeout', reason: 'Timeout' });
  });

  it('ends with the caller', async () => {
    const caller = new AbortController();
    answer = () => caller.abort();
    await expect(upstream.send(request({ signal: caller.signal }))).rejects.toMatchObject({ code: 'cancelled' });
  });

  it.each([
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
    ['closes in mid-body', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{')],
    ['speaks no HTTP', (socket: Socket) => socket.end('220 mail.example ESMTP\r\n')],
    ['sends endless headers', (socket: Socket) => endless(socket)],
  ])('reports an upstream that %s', async (_title, act) => {
    const peer = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => act(socket));
    }).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    const { port: peerPort } = peer.address() as AddressInfo;
    const sent = upstream.send(request({ server: `http://127.0.0.1:${peerPort}` }));
    await expect(sent).rejects.toMatchObject({ code: 'unavailable', reason: 'NetworkError' });
    peer.close();
  });

  it('reports a refused connection without what was sent', async () => {
    const sent = upstream.send(request({ server: 'http://127.0.0.1:1', headers: { authorization: 'Bearer canary' } }));
    const error = await sent.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable', message: '127.0.0.1:1: the connection was refused' });
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('canary');
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', '0x7f.1', 'localhost'])(
    'AMB-139 refuses %s unless its network is open for the spec',
    async (host) => {
      const sent = upstream.send(request({ server: `http://${host}:${port}`, allowedNetworks: [] }));
      await expect(sent).rejects.toMatchObject({
        code: 'forbidden',
        reason: 'AddressRefused',
        message: expect.stringMatching(/is at an internal address; .* in allow_internal_addresses/) as string,
      });
      expect(seen).toEqual([]);
    },
  );

  it('AMB-139 opens the networks of the spec and no others', async () => {
    const server = `http://api.example:${port}`;
    await upstream.send(request({ server, allowedNetworks: ['127.0.0.1/32'] }));
    await expect(upstream.send(request({ server, allowedNetworks: ['10.0.0.0/8'] }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(upstream.send(request({ server, allowedNetworks: ['x/8'] }))).rejects.toMatchObject({
      code: 'invalid',
    });
    expect(seen).toHaveLength(1);
  });

  it('vets the address of every connection: a name that rebinds leads nowhere', async () => {
    const server = `http://rebind.example:${port}`;
    const allowedNetworks = ['127.0.0.1/32'];
    await upstream.send(request({ server, allowedNetworks }));
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await systemClock.sleep(50);
    resolved = ['127.0.0.2'];
    await expect(upstream.send(request({ server, allowedNetworks }))).rejects.toMatchObject({ code: 'forbidden' });
    // A name that has a permitted address beside an internal one is connected to the permitted one.
    resolved = ['127.0.0.2', '127.0.0.1'];
    await upstream.send(request({ server, allowedNetworks }));
    expect([seen.length, lookups]).toEqual([2, 3]);
  });

  it.each(['ftp://a.example', 'http://user:pass@a.example', 'nothing', 'file:///etc/passwd'])(
    'refuses the server %s',
    async (server) => expect(upstream.send(request({ server }))).rejects.toMatchObject({ code: 'invalid' }),
  );

  it('keeps so many pools for one tenant, and answers what the others had taken', async () => {
    let release: () => void = () => undefined;
    answer = (entry, response) => {
      if (entry.url === '/slow') release = () => response.end('{}');
      else response.end('{}');
    };
    const slow = upstream.send(request({ path: '/slow' }));
    while (seen.length === 0) await systemClock.sleep(5);
    for (let index = 0; index < upstreamLimits.poolsPerTenant + 5; index += 1) {
      await upstream.send(request({ server: `http://h${index}.example:${port}` }));
    }
    await systemClock.sleep(50);
    const open = await new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
    expect(open).toBeLessThanOrEqual(upstreamLimits.poolsPerTenant + 1);
    release();
    expect((await slow).status).toBe(200);
  });
});

function endless(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket.write(`x: ${'v'.repeat(10_000)}\r\n`), 1);
  socket.on('close', () => clearInterval(timer));
}

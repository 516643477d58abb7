import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { defineContract } from './contract.ts';
import { defineRoute, json, type RouteRequest } from './route.ts';
import { isServerStopping } from './server-stops.ts';
import { connectMany, manyConnections } from '../../test/support/connect-many.ts';
import { readAnswer, requestText, sendRaw, startTestServer, type TestCaller } from '../../test/support/http-server.ts';

const slow = defineContract({
  operationId: 'slow',
  method: 'post',
  path: '/v1/slow',
  tag: 'Test',
  summary: 'Test',
  access: 'public',
  body: { kind: 'bytes' },
  success: { kind: 'json', description: 'Done.', schema: Type.Object({}), example: {} },
  errors: [],
});

type SlowRequest = RouteRequest<typeof slow, TestCaller>;

/** A server whose handler waits for the test, or for its signal. */
async function serve(
  timeouts?: { readonly headers?: number; readonly request?: number },
  connections?: { readonly places: number; readonly spareMs: number },
) {
  const release = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<SlowRequest>();
  const route = defineRoute<typeof slow, TestCaller>(slow, async (request) => {
    entered.resolve(request);
    const gone = once(request.signal, 'abort').then(() => {
      throw new AppError('cancelled', 'given up');
    });
    await Promise.race([release.promise, gone]);
    return json({ done: true });
  });
  const server = await startTestServer([route], { timeouts, connections });
  return { server, release, entered };
}

const ask = requestText('POST /v1/slow');

describe('a graceful stop', () => {
  it('takes no new connection and answers what is under way, then is over', async () => {
    const { server, release, entered } = await serve();
    const answer = sendRaw(server.port, ask);
    await entered.promise;
    const idle = connect(server.port, '127.0.0.1');
    await once(idle, 'connect');
    let isClosed = false;
    const closing = server.listener.close(new AbortController().signal).then(() => {
      isClosed = true;
    });
    await once(idle, 'close');
    const [refused] = (await once(connect(server.port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
    expect([refused.code, isClosed]).toEqual(['ECONNREFUSED', false]);
    release.resolve();
    expect(await answer).toMatchObject({ status: 200, body: '{"done":true}' });
    await closing;
  });

  it('does not wait for a connection that was kept for a further request', async () => {
    const { server, release, entered } = await serve();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(ask);
    await entered.promise;
    const closing = server.listener.close(new AbortController().signal);
    release.resolve();
    await closing;
    expect((await readAnswer(socket)).status).toBe(200);
  });

  it('answers a request that was sent before the answer to the one before it', async () => {
    const releases = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let entered = 0;
    const route = defineRoute<typeof slow, TestCaller>(slow, async () => {
      const number = entered++;
      await releases[number]?.promise;
      return json({ number });
    });
    const server = await startTestServer([route]);
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.write(ask + ask);
    await expect.poll(() => entered).toBe(2);
    releases[0]?.resolve();
    await expect.poll(() => text).toContain('{"number":0}');
    const closing = server.listener.close(new AbortController().signal);
    releases[1]?.resolve();
    await closing;
    await expect.poll(() => text).toContain('{"number":1}');
  });

  it('tells clients to open no further request on their connection', async () => {
    const { server, release } = await serve();
    release.resolve();
    server.app.stop();
    const answer = await sendRaw(server.port, requestText('POST /v1/slow', ['Connection: keep-alive']));
    expect(answer.headers['connection']).toBe('close');
    await server.close();
  });

  it('that has no more time tells handlers to give up, and ends', async () => {
    const { server, entered } = await serve();
    const answer = sendRaw(server.port, ask).then(
      () => 'answered',
      () => 'broken off',
    );
    const { signal } = await entered.promise;
    const abandon = new AbortController();
    const closing = server.listener.close(abandon.signal);
    expect(signal.aborted).toBe(false);
    abandon.abort();
    await closing;
    expect([signal.aborted, await answer]).toEqual([true, 'broken off']);
  });

  it('sends the answer of a handler that gave up because of it, until connections are broken off', async () => {
    const { server, release, entered } = await serve();
    const answer = sendRaw(server.port, ask);
    const { signal } = await entered.promise;
    const [abandon, breakOff] = [new AbortController(), new AbortController()];
    const closing = server.listener.close(abandon.signal, breakOff.signal);
    abandon.abort();
    expect([signal.aborted, isServerStopping(signal)]).toEqual([true, true]);
    release.resolve();
    expect(await answer).toMatchObject({ status: 200, body: '{"done":true}' });
    await closing;
    expect(breakOff.signal.aborted).toBe(false);
  });
});

describe('the signal of a request', () => {
  it('aborts when the client leaves', async () => {
    const { server, entered } = await serve();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(ask);
    const { signal } = await entered.promise;
    socket.destroy();
    await expect.poll(() => signal.aborted).toBe(true);
    expect(isServerStopping(signal)).toBe(false);
    await expect.poll(() => server.lines.at(-1)).toMatchObject({ operation: 'slow', level: 'debug', status: 499 });
    await server.close();
  });

  it('does not abort when all went well', async () => {
    const { server, entered, release } = await serve();
    release.resolve();
    expect((await sendRaw(server.port, ask)).status).toBe(200);
    const { signal } = await entered.promise;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(signal.aborted).toBe(false);
    await server.close();
  });
});

describe('a connection between two requests', () => {
  it('is kept for longer than a proxy would use it', async () => {
    const { server, release } = await serve();
    release.resolve();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(ask);
    expect((await readAnswer(socket)).headers['keep-alive']).toBe('timeout=620');
    socket.destroy();
  });
});

describe('a client that is too slow', () => {
  const timeouts = { headers: 300, request: 600 };
  const timedOut =
    '{"error":"request_timeout","code":"request_timeout","message":"the request did not arrive in time; send it again"}';

  it('with its headers is answered 408 and closed', async () => {
    const { server } = await serve(timeouts);
    expect(await sendRaw(server.port, 'POST /v1/slow HTTP/1.1\r\nHost: test\r\n')).toMatchObject({
      status: 408,
      body: timedOut,
    });
    await server.close();
  });

  it('with its body is answered 408 and closed, and no handler has seen it', async () => {
    const { server, entered } = await serve(timeouts);
    let isEntered = false;
    void entered.promise.then(() => {
      isEntered = true;
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(requestText('POST /v1/slow', ['Content-Length: 100']));
    const drip = setInterval(() => socket.write('x'), 100);
    const answer = await readAnswer(socket);
    clearInterval(drip);
    expect(answer).toMatchObject({ status: 408, body: timedOut });
    expect(isEntered).toBe(false);
    await server.close();
  });
});

describe('idle connections of one client', () => {
  const connections = { places: 20, spareMs: 600_000 };
  const from = async (port: number, localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const askFrom = async (port: number, localAddress: string) => {
    const socket = await from(port, localAddress);
    socket.write(ask);
    return readAnswer(socket);
  };

  it('leave a fifth of the places to other networks', async () => {
    const { server, release } = await serve(undefined, connections);
    release.resolve();
    for (let at = 0; at < 40; at += 1) await from(server.port, '127.0.0.2');
    expect((await askFrom(server.port, '127.0.0.3')).status).toBe(200);
    await server.close();
  });

  it('make room where all places are taken, those of the fullest account first', async () => {
    const { server, release } = await serve(undefined, { ...connections, spareMs: 0 });
    release.resolve();
    const closed: string[] = [];
    for (let at = 0; at < 20; at += 1) {
      const address = at < 16 ? '127.0.0.2' : `127.0.0.${at}`;
      (await from(server.port, address)).on('close', () => closed.push(address)).resume();
    }
    expect((await askFrom(server.port, '127.0.0.3')).status).toBe(200);
    expect(closed).toEqual(['127.0.0.2']);
    await server.close();
  });
});

it('clients that come at once are kept by the kernel while the process works', async () => {
  const { server } = await serve();
  expect(connectMany(server.port, manyConnections)).toBe(manyConnections);
  await server.close();
});

describe('a connection', () => {
  it('is probed by the kernel while its request waits, so that the client of a lost host is noticed', async () => {
    const { server, release, entered } = await serve();
    const answer = sendRaw(server.port, ask);
    await entered.promise;
    expect(await keepAliveTimersOn(server.port)).toBe(1);
    release.resolve();
    await answer;
  });
});

/** Established connections that the kernel probes: timer 02 of /proc/net/tcp and tcp6. */
async function keepAliveTimersOn(port: number): Promise<number> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')));
  const rows = tables.flatMap((table) => table.split('\n').map((row) => row.trim().split(/\s+/)));
  return rows.filter((row) => row[1]?.endsWith(`:${hex}`) && row[3] === '01' && row[5]?.startsWith('02:')).length;
}

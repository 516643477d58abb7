import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Duplex, PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import {
  requestText,
  sendRaw,
  startTestServer,
  type TestCaller,
  type TestServer,
} from '../../test/support/http-server.ts';
import { nested } from '../../test/support/nested.ts';
import { AppError } from '../errors.ts';
import { defineContract } from './contract.ts';
import { defineRoute, json } from './route.ts';
import { sendReply } from './send-reply.ts';

const output = defineContract({
  operationId: 'output',
  method: 'get',
  path: '/v1/output',
  tag: 'Test',
  summary: 'Test',
  access: 'bearer',
  success: { kind: 'text', description: 'Output.', mediaType: 'text/plain', example: '' },
  errors: [],
});

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server that answers with what the test writes. */
async function serve({ isEndless = false, stream = new PassThrough() as Duplex } = {}) {
  const headers = { 'Cache-Control': 'public' };
  const route = defineRoute<typeof output, TestCaller>(output, async () => ({
    kind: 'stream',
    stream,
    mediaType: 'text/plain',
    headers,
    isEndless,
  }));
  const server = await startTestServer([route]);
  servers.push(server);
  return { server, stream };
}

describe('an answer of JSON for which there is no room', () => {
  it('is refused before any of its text is made', async () => {
    const made: string[] = [];
    const asked: number[] = [];
    const row = { text: 'x'.repeat(1_000), toJSON: () => void made.push('text') };
    const answer = (bytes: number): never => {
      asked.push(bytes);
      throw new AppError('unavailable', 'no room');
    };
    const reply = { kind: 'json', value: { items: [row, row] } } as const;
    const sending = sendReply({} as never, {} as never, reply, { answer } as never);
    await expect(sending).rejects.toThrow('no room');
    expect(made).toEqual([]);
    expect(asked[0]).toBeGreaterThan(2_000);
  });
});

describe('an answer with a value of thousands of levels, which kubectl may store', () => {
  const read = defineContract({
    operationId: 'read',
    method: 'get',
    path: '/v1/deep',
    tag: 'Test',
    summary: 'Test',
    access: 'bearer',
    success: { kind: 'json', description: 'Rows.', schema: Type.Object({}), example: {} },
    errors: [],
  });

  it.each([1, 2_000])(
    'AMB-154 has the other values, and a word in place of its depth, in a list of %i rows',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({ index, text: 'x'.repeat(1_000), input: {} }));
      rows.push({ index: count, text: '', input: { a: nested(9_000) } });
      const server = await startTestServer([defineRoute<typeof read, TestCaller>(read, async () => json({ rows }))]);
      servers.push(server);
      const response = await fetch(`${server.url}/v1/deep`, { headers: { authorization: 'Bearer ada' } });
      const text = await response.text();
      expect(response.status).toBe(200);
      const answer = JSON.parse(text) as { rows: { index: number }[] };
      expect(answer.rows.map(({ index }) => index)).toEqual(rows.map(({ index }) => index));
      expect(text).toContain('(cut: more than 128 levels)');
    },
  );
});

describe('a large answer of JSON', () => {
  const list = defineContract({
    operationId: 'list',
    method: 'get',
    path: '/v1/rows',
    tag: 'Test',
    summary: 'Test',
    access: 'bearer',
    success: { kind: 'json', description: 'Rows.', schema: Type.Object({}), example: {} },
    errors: [],
  });
  let made = 0;
  class Row {
    readonly text = 'x'.repeat(1_000);
    toJSON(): object {
      made += 1;
      return { text: this.text };
    }
  }
  const rows = Array.from({ length: 20_000 }, () => new Row());

  it('EDGE-REST-37 is made row by row as its client reads, so that no turn of the event loop makes all of it', async () => {
    const server = await startTestServer([defineRoute<typeof list, TestCaller>(list, async () => json({ rows }))]);
    servers.push(server);
    const request = get(`${server.url}/v1/rows`, { headers: { authorization: 'Bearer ada' } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await pause(200);
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(rows.length);
    const texts: string[] = [];
    for await (const chunk of response.setEncoding('utf8')) texts.push(String(chunk));
    expect(texts.join('')).toBe(JSON.stringify({ rows }));
  });
});

const bearer = 'Authorization: Bearer ada';

/** A client that has the head of the answer; `state` tells what else came of it. */
async function client(server: TestServer) {
  const state = { text: '', end: '' };
  const request = get(`${server.url}/v1/output`, { headers: { authorization: 'Bearer ada' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('data', (chunk) => {
    state.text += String(chunk);
  });
  response.once('end', () => {
    state.end = 'complete';
  });
  response.once('error', () => {
    state.end = 'broken off';
  });
  return { state, headers: response.headers, leave: () => request.destroy() };
}

const never = new AbortController().signal;
const logged = (server: TestServer) => server.lines.findLast(({ operation }) => operation === 'output');

describe('a stream of bytes', () => {
  it('that has an end is sent to it, although the server stops', async () => {
    const { server, stream } = await serve();
    stream.write('one ');
    const { state } = await client(server);
    let isClosed = false;
    const closing = server.listener.close(never).then(() => {
      isClosed = true;
    });
    await expect.poll(() => state.text).toBe('one ');
    expect(isClosed).toBe(false);
    stream.end('two');
    await closing;
    await expect.poll(() => state).toEqual({ text: 'one two', end: 'complete' });
    expect(logged(server)).toMatchObject({ status: 200, level: 'info', msg: 'request' });
    expect(logged(server)).not.toHaveProperty('aborted');
  });

  it('that has no end is broken off when the server stops, so that no client takes it for the whole', async () => {
    const { server, stream } = await serve({ isEndless: true });
    const { state } = await client(server);
    stream.write('one ');
    await expect.poll(() => state.text).toBe('one ');
    await server.listener.close(never);
    await expect.poll(() => state.end).toBe('broken off');
    expect(stream.destroyed).toBe(true);
    expect(logged(server)).toMatchObject({ status: 200, level: 'info', aborted: true });
  });

  it('that has no end tells proxies to pass on each piece at once', async () => {
    const endless = await client((await serve({ isEndless: true })).server);
    expect(endless.headers).toMatchObject({ 'content-type': 'text/plain', 'x-accel-buffering': 'no' });
    const { server, stream } = await serve();
    stream.write('one ');
    expect((await client(server)).headers).not.toHaveProperty('x-accel-buffering');
  });

  it('that has no end is not begun by a server that stops', async () => {
    const { server, stream } = await serve({ isEndless: true });
    server.app.stop();
    const answer = await sendRaw(server.port, requestText('GET /v1/output', [bearer]));
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5', 'cache-control': 'no-store' } });
    expect(stream.destroyed).toBe(true);
  });

  it('that fails before its first byte is answered with its own status', async () => {
    const stream = new Duplex({ read: () => void stream.destroy(new AppError('unavailable', 'connect 10.0.0.1')) });
    const { server } = await serve({ stream });
    const answer = await sendRaw(server.port, requestText('GET /v1/output', [bearer]));
    expect(answer).toMatchObject({ status: 503, headers: { 'cache-control': 'no-store' } });
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'unavailable' });
  });

  it.each([
    ['error', new Error('a bug of ours')],
    ['warn', new AppError('unavailable', 'connect 10.0.0.1')],
  ])('that fails later is broken off, and logged at level %s with its request', async (level, error) => {
    const { server, stream } = await serve();
    stream.write('one ');
    const { state } = await client(server);
    await expect.poll(() => state.text).toBe('one ');
    stream.destroy(error);
    await expect.poll(() => state.end).toBe('broken off');
    await expect
      .poll(() => logged(server))
      .toMatchObject({
        level,
        msg: 'answer broken off',
        status: 200,
        aborted: true,
        requestId: 'generated-id',
        err: { message: error.message },
      });
  });

  it('whose client leaves is let go, and nothing is wrong', async () => {
    const { server, stream } = await serve();
    stream.write('one ');
    const { leave } = await client(server);
    leave();
    await expect.poll(() => logged(server)).toMatchObject({ level: 'info', msg: 'request' });
    expect(logged(server)).not.toHaveProperty('aborted');
    expect(stream.destroyed).toBe(true);
    await pause(20);
    expect(server.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

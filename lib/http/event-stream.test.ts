import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import {
  requestText,
  sendRaw,
  startTestServer,
  type TestCaller,
  type TestServer,
} from '../../test/support/http-server.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { defineContract } from './contract.ts';
import { encodeEvent } from './event-stream.ts';
import { defineRoute, type EventFrame, type RouteRequest } from './route.ts';

const follow = defineContract({
  operationId: 'follow',
  method: 'get',
  path: '/v1/follow',
  tag: 'Test',
  summary: 'Test',
  access: 'public',
  success: { kind: 'events', description: 'Events.', schema: Type.Object({}), example: '', lastEvents: ['end'] },
  errors: [],
});

/** Events that a test sends when it likes, for any number of clients; counts who listens. */
function createFeed() {
  const open = new Set<{ frames: EventFrame[]; wake?: () => void; isOver: boolean }>();
  const feed = {
    get listeners() {
      return open.size;
    },
    send(frame: EventFrame) {
      for (const one of open) {
        one.frames.push(frame);
        one.wake?.();
      }
    },
    end() {
      for (const one of open) {
        one.isOver = true;
        one.wake?.();
      }
    },
    async *listen(signal: AbortSignal): AsyncGenerator<EventFrame> {
      const one: { frames: EventFrame[]; wake?: () => void; isOver: boolean } = { frames: [], isOver: false };
      open.add(one);
      signal.addEventListener('abort', () => one.wake?.());
      try {
        while (!signal.aborted && !one.isOver) {
          for (const frame of one.frames.splice(0)) yield frame;
          if (one.isOver || signal.aborted) return;
          if (one.frames.length > 0) continue;
          await new Promise<void>((resolve) => {
            one.wake = resolve;
          });
        }
        yield* one.frames;
      } finally {
        open.delete(one);
      }
    },
  };
  return feed;
}

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

type FollowRequest = RouteRequest<typeof follow, TestCaller>;

async function serve(events: (request: FollowRequest) => AsyncIterable<EventFrame>, options: object = {}) {
  const route = defineRoute<typeof follow, TestCaller>(follow, async (request) => ({
    kind: 'events',
    events: events(request),
  }));
  const server = await startTestServer([route], options);
  servers.push(server);
  return server;
}

/** A client that reads; `text` grows with what arrives. */
async function client(server: TestServer, headers: Readonly<Record<string, string>> = {}) {
  const state = { text: '', isEnded: false, error: undefined as Error | undefined };
  const request = get(`${server.url}/v1/follow`, { headers });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  response.on('data', (chunk) => {
    state.text += String(chunk);
  });
  response.on('end', () => {
    state.isEnded = true;
  });
  response.on('error', (error) => {
    state.error = error;
  });
  return { state, response, leave: () => request.destroy() };
}

const operation = (server: TestServer) => server.lines.findLast(({ operation: name }) => name === 'follow');

describe('an event', () => {
  it.each([
    [{ data: { a: 1 } }, 'data: {"a":1}\n\n'],
    [{ id: '7', data: 'x\ny' }, 'id: 7\ndata: "x\\ny"\n\n'],
    [{ id: '7', event: 'done', data: null }, 'id: 7\nevent: done\ndata: null\n\n'],
  ])('%j is one line of JSON', (event, want) => {
    expect(encodeEvent(event).toString()).toBe(want);
  });

  it.each(['a\nb', 'a\rb', 'a\0'])('cannot smuggle another one in by its id %j', (id) => {
    expect(() => encodeEvent({ id, data: 1 })).toThrow(RangeError);
    expect(() => encodeEvent({ event: id, data: 1 })).toThrow(RangeError);
  });
});

describe('a stream of events', () => {
  it('is sent as it comes and ends with the iterator', async () => {
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal));
    const { state, response } = await client(server);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': 'generated-id',
    });
    feed.send({ id: '1', data: { n: 1 } });
    await expect.poll(() => state.text).toBe('id: 1\ndata: {"n":1}\n\n');
    feed.send(encodeEvent({ id: '2', data: { n: 2 } }));
    feed.end();
    await expect.poll(() => state.isEnded).toBe(true);
    expect(state.text).toBe('id: 1\ndata: {"n":1}\n\nid: 2\ndata: {"n":2}\n\n');
    expect(feed.listeners).toBe(0);
    expect(operation(server)).toMatchObject({ status: 200 });
  });

  it('AMB-030 is kept alive by a comment every 15 s in which nothing happens', async () => {
    const clock = createManualClock();
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal), { clock });
    const { state } = await client(server);
    await clock.advance(14_999);
    expect(state.text).toBe('');
    await clock.advance(1);
    await expect.poll(() => state.text).toBe(': keep-alive\n\n');
    feed.send({ data: 1 });
    await expect.poll(() => state.text).toContain('data: 1');
    await clock.advance(14_999);
    await clock.advance(1);
    await expect.poll(() => state.text.match(/keep-alive/g)).toHaveLength(2);
    await clock.advance(15_000);
    await expect.poll(() => state.text.match(/keep-alive/g)).toHaveLength(3);
  });

  it('AMB-030 is kept alive 15 s after its first event and after its beginning, whenever others began', async () => {
    const clock = createManualClock();
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal), { clock });
    const first = await client(server);
    await clock.advance(7_000);
    const second = await client(server);
    feed.send({ data: 1 });
    await expect.poll(() => second.state.text).toContain('data: 1');
    await clock.advance(7_999);
    const third = await client(server);
    await clock.advance(7_001);
    await expect.poll(() => [first, second].map(({ state }) => /keep-alive/.test(state.text))).toEqual([true, true]);
    expect(third.state.text).toBe('');
    await clock.advance(7_999);
    await expect.poll(() => third.state.text).toBe(': keep-alive\n\n');
  });

  it('ends when the token of its client does, and not before', async () => {
    const clock = createManualClock();
    const feed = createFeed();
    const known = defineContract({ ...follow, access: 'bearer' });
    const handle = async ({ signal }: RouteRequest<typeof known, TestCaller>) =>
      ({ kind: 'events', events: feed.listen(signal) }) as const;
    const options = { clock, validUntil: () => Date.parse('2026-01-01T01:00:00Z') };
    const server = await startTestServer([defineRoute<typeof known, TestCaller>(known, handle)], options);
    servers.push(server);
    const { state } = await client(server, { authorization: 'Bearer ada' });
    await clock.advance(3_599_999);
    expect([state.isEnded, feed.listeners]).toEqual([false, 1]);
    await clock.advance(1);
    await expect.poll(() => [state.isEnded, feed.listeners]).toEqual([true, 0]);
    await expect.poll(() => clock.sleepers).toBe(0);
  });

  it('leaves no timer behind when the last one is over', async () => {
    const clock = createManualClock();
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal), { clock });
    const clients = [await client(server), await client(server)];
    expect(clock.sleepers).toBe(1);
    clients[0]?.leave();
    await expect.poll(() => feed.listeners).toBe(1);
    expect(clock.sleepers).toBe(1);
    server.app.stop();
    await expect.poll(() => clients[1]?.state.isEnded).toBe(true);
    await expect.poll(() => clock.sleepers).toBe(0);
  });

  it('tells the iterator when the client leaves', async () => {
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal));
    const { leave } = await client(server);
    await expect.poll(() => feed.listeners).toBe(1);
    leave();
    await expect.poll(() => feed.listeners).toBe(0);
    await expect.poll(() => operation(server)).toBeDefined();
  });

  it('calls return of an iterator that knows no signal', async () => {
    let returned = 0;
    const pending = Promise.withResolvers<IteratorResult<EventFrame>>();
    const iterator: AsyncIterator<EventFrame> = {
      next: () => pending.promise,
      async return() {
        returned += 1;
        pending.resolve({ done: true, value: undefined });
        return { done: true, value: undefined };
      },
    };
    const server = await serve(() => ({ [Symbol.asyncIterator]: () => iterator }));
    const { leave } = await client(server);
    leave();
    await expect.poll(() => returned).toBe(1);
    await expect.poll(() => operation(server)).toBeDefined();
  });

  it('of a client that does not read waits for it, and the others notice nothing', async () => {
    const feed = createFeed();
    let taken = 0;
    const counted = async function* (signal: AbortSignal): AsyncGenerator<EventFrame> {
      for await (const frame of feed.listen(signal)) {
        taken += 1;
        yield frame;
      }
    };
    const server = await serve(({ signal, rawHeaders }) =>
      rawHeaders.some(([name]) => name === 'x-idle') ? counted(signal) : feed.listen(signal),
    );
    const reader = await client(server);
    const idle = connect(server.port, '127.0.0.1');
    idle.on('error', () => undefined).pause();
    idle.write(requestText('GET /v1/follow', ['X-Idle: 1']));
    await expect.poll(() => feed.listeners).toBe(2);
    const frame = Buffer.from(`data: "${'x'.repeat(65_524)}"\n\n`);
    // The systems' own buffers take some megabytes before anything waits in this process.
    for (let sent = 1; sent <= 400; sent += 1) {
      feed.send(frame);
      await expect.poll(() => reader.state.text.length, { timeout: 5_000, interval: 1 }).toBe(sent * frame.length);
    }
    expect(taken).toBeLessThan(400);
    expect(feed.listeners).toBe(2);
    let read = 0;
    idle.on('data', (chunk) => (read += (chunk as Buffer).length)).resume();
    await expect.poll(() => read, { timeout: 5_000 }).toBeGreaterThan(400 * frame.length);
    expect(taken).toBe(400);
    idle.destroy();
  });

  it('breaks off when the iterator fails, so that the client can tell and ask again', async () => {
    const server = await serve(async function* () {
      yield { data: 1 };
      throw new Error('the bus is gone');
    });
    const { state } = await client(server);
    await expect.poll(() => state.error).toBeDefined();
    expect([state.text, state.isEnded]).toEqual(['data: 1\n\n: broken off\n\n', false]);
    expect(operation(server)).toMatchObject({ level: 'error', err: { message: 'the bus is gone' } });
  });

  it('ends when the server stops, and later clients are not kept', async () => {
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal));
    const { state } = await client(server);
    await expect.poll(() => feed.listeners).toBe(1);
    server.app.stop();
    await expect.poll(() => state.isEnded).toBe(true);
    expect([feed.listeners, state.error]).toEqual([0, undefined]);
    const late = await client(server);
    await expect.poll(() => late.state.isEnded).toBe(true);
  });

  it('has a head without events', async () => {
    const feed = createFeed();
    const server = await serve(({ signal }) => feed.listen(signal));
    const answer = await sendRaw(server.port, requestText('HEAD /v1/follow', ['Connection: close']));
    expect(answer).toMatchObject({ status: 200, body: '', headers: { 'content-type': 'text/event-stream' } });
    expect(feed.listeners).toBe(0);
  });

  it('that is over is 204, after which the connection serves on', async () => {
    const route = defineRoute<typeof follow, TestCaller>(follow, async () => ({ kind: 'no_content' }));
    const server = await startTestServer([route]);
    servers.push(server);
    const twice = requestText('GET /v1/follow') + requestText('GET /v1/follow', ['Connection: close']);
    const answer = await sendRaw(server.port, twice);
    expect([answer.status, answer.headers['content-type']]).toEqual([204, undefined]);
    await expect.poll(() => server.lines.filter(({ status }) => status === 204)).toHaveLength(2);
  });
});

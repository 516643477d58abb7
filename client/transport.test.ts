import { describe, expect, it } from 'vitest';
import { type Answer, answerJson, loopback } from '../test/builders/loopback.ts';
import { WindlassApiError } from './api-error.ts';
import type { Operation } from './operation.ts';
import { createTransport, jsonOf, type Transport, type TransportOptions } from './transport.ts';

const read: Operation = { method: 'GET', path: '/v1/things', bearer: true, query: [], headers: {}, reply: 'json' };
const write: Operation = { ...read, method: 'POST', mediaType: 'application/json' };
const keyed: Operation = { ...write, headers: { idempotencyKey: 'idempotency-key' } };
const hangUp: Answer = (request) => request.socket.destroy();
const breakOff: Answer = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
  response.write('{', () => request.socket.destroy());
};

/** Ends pauses at once, through `pause`; the watch over the start of an answer ends with the answer. */
const pausing =
  (pause: (ms: number) => void): TransportOptions['sleep'] =>
  async (ms, signal) => {
    if (ms >= 30_000) return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
    pause(ms);
  };
const stopping = (stop: AbortController) => pausing(() => stop.abort());

function transport(server: string, options: Partial<TransportOptions> = {}): Transport & { readonly pauses: number[] } {
  const pauses: number[] = [];
  const own = createTransport({
    server,
    getToken: () => 'first',
    tenant: undefined,
    headers: {},
    fetch,
    sleep: pausing((ms) => pauses.push(ms)),
    random: () => 0,
    attempts: 4,
    patienceMs: 90_000,
    timeoutMs: 30_000,
    onRetry: () => undefined,
    ...options,
  });
  return { ...own, pauses };
}

describe('sending a call', () => {
  it('repeats a read until an answer comes', async () => {
    await using server = await loopback(hangUp, answerJson(503, { error: 'unavailable' }), answerJson(200, { n: 1 }));
    const client = transport(server.url);
    expect(jsonOf(await client.send(read, {}))).toEqual({ n: 1 });
    expect(client.pauses).toEqual([100, 200]);
  });

  it('repeats a read whose answer breaks off, and no write', async () => {
    await using server = await loopback(breakOff, answerJson(200, { n: 1 }), breakOff);
    expect(jsonOf(await transport(server.url).send(read, {}))).toEqual({ n: 1 });
    await expect(transport(server.url).send(write, { body: {} })).rejects.toThrow(`${server.url} cut its answer off`);
    expect(server.requests).toHaveLength(3);
  });

  it('gives up after as many attempts as it is allowed, with the last failure', async () => {
    await using server = await loopback(answerJson(503, { error: 'unavailable', message: 'no bus' }));
    await expect(transport(server.url).send(read, {})).rejects.toMatchObject({ status: 503, message: 'no bus' });
    expect(server.requests).toHaveLength(4);
  });

  it.each([
    [10_000, 2],
    [9_999, 1],
    [15_000, 3],
  ])('waits %i ms at most in all pauses of a call', async (patienceMs, pauses) => {
    const busy: Answer = (_request, response) => {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '5' });
      response.end('{"error":"unavailable"}');
    };
    await using server = await loopback(busy);
    const told: string[] = [];
    const onRetry = (error: Error, pauseMs: number) => told.push(`${error.name} ${pauseMs}`);
    const client = transport(server.url, { patienceMs, onRetry });
    await expect(client.send(read, {})).rejects.toMatchObject({ status: 503 });
    expect(client.pauses).toEqual(Array.from({ length: pauses }, () => 5_000));
    expect(told).toEqual(Array.from({ length: pauses }, () => 'WindlassApiError 5000'));
  });

  it('sends a write once, whatever becomes of it', async () => {
    await using server = await loopback(hangUp, answerJson(200, {}));
    await expect(transport(server.url).send(write, { body: {} })).rejects.toMatchObject({
      name: 'WindlassConnectionError',
      message: `${server.url} broke the connection before it answered`,
      mayHaveRun: true,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('repeats a write that has an idempotency key, under the same key', async () => {
    await using server = await loopback(hangUp, answerJson(502, {}), answerJson(200, {}));
    await transport(server.url).send(keyed, { body: { a: 1 }, idempotencyKey: 'k' });
    expect(server.requests.map(({ headers, body }) => [headers['idempotency-key'], body])).toEqual([
      ['k', '{"a":1}'],
      ['k', '{"a":1}'],
      ['k', '{"a":1}'],
    ]);
  });

  it('asks for another token once when the first is refused', async () => {
    await using server = await loopback(answerJson(401, { error: 'unauthorized' }), answerJson(200, {}));
    const asked: (string | undefined)[] = [];
    const getToken = (refused?: string) => {
      asked.push(refused);
      return refused === undefined ? 'old' : 'new';
    };
    await transport(server.url, { getToken }).send(write, { body: {} });
    expect(asked).toEqual([undefined, 'old']);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('takes a second 401 for final, and one without another token too', async () => {
    await using server = await loopback(answerJson(401, { error: 'unauthorized' }));
    const getToken = (refused?: string) => (refused === undefined ? 'old' : 'new');
    await expect(transport(server.url, { getToken }).send(read, {})).rejects.toMatchObject({ status: 401 });
    await expect(transport(server.url).send(read, {})).rejects.toMatchObject({ status: 401, error: 'unauthorized' });
    const none = (refused?: string) => (refused === undefined ? 'old' : undefined);
    await expect(transport(server.url, { getToken: none }).send(read, {})).rejects.toMatchObject({ status: 401 });
    expect(server.requests).toHaveLength(4);
  });

  it('says everything that the server says of an error', async () => {
    const body = {
      error: 'input validation failed',
      message: 'input.name is missing',
      details: [{ path: 'input.name', message: 'is missing' }, { nonsense: true }],
      extra: 1,
    };
    await using server = await loopback(answerJson(422, body, { 'x-request-id': 'r-1', 'retry-after': '7' }));
    const error = await transport(server.url)
      .send(write, { body: {} })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WindlassApiError);
    expect(error).toMatchObject({
      name: 'WindlassApiError',
      status: 422,
      error: 'input validation failed',
      message: 'input.name is missing',
      details: [{ path: 'input.name', message: 'is missing' }],
      requestId: 'r-1',
      retryAfterMs: 7_000,
      body: { extra: 1 },
    });
  });

  it.each(['<html>Bad Gateway</html>', '', '[]', '{"message":"no error word"}', '"error"'])(
    'makes an error of what a proxy says: %j',
    async (page) => {
      await using server = await loopback((_, response) => response.writeHead(400).end(page));
      await expect(transport(server.url).send(read, {})).rejects.toMatchObject({
        status: 400,
        error: 'http_400',
        message: 'the server answered HTTP status 400 Bad Request without saying why',
        details: [],
      });
    },
  );

  it('says of a port that the platform refuses that the server cannot be reached', async () => {
    await expect(transport('http://127.0.0.1:9').send(write, { body: {} })).rejects.toMatchObject({
      message: 'http://127.0.0.1:9 cannot be reached',
      mayHaveRun: false,
    });
  });

  it('says which server cannot be reached', async () => {
    const server = await loopback();
    await server[Symbol.asyncDispose]();
    await expect(transport(server.url).send(read, {})).rejects.toThrow(`${server.url} cannot be reached`);
  });

  it.each<[string, Answer]>([
    ['begin', () => undefined],
    ['end', (_, response) => void response.writeHead(200, { 'content-length': 100 }).write('{')],
  ])('gives up on an answer that does not %s', async (_, stall) => {
    await using server = await loopback(stall);
    const { sleep } = await import('./sleep.ts');
    const client = transport(server.url, { sleep, attempts: 1 });
    await expect(client.send(read, {}, { timeoutMs: 30 })).rejects.toThrow(`${server.url} did not answer within 30 ms`);
  });

  it('knows an error by its status where its body does not come', async () => {
    await using server = await loopback(
      (_, response) => void response.writeHead(409, { 'content-length': 9 }).write('{'),
    );
    const { sleep } = await import('./sleep.ts');
    const client = transport(server.url, { sleep, attempts: 1 });
    await expect(client.send(read, {}, { timeoutMs: 2_000 })).rejects.toMatchObject({ status: 409, error: 'http_409' });
  });

  it('leaves the body of a stream unread, however long it takes', async () => {
    await using server = await loopback((_, response) => void response.writeHead(200).write('x'));
    const { sleep } = await import('./sleep.ts');
    const { response, text } = await transport(server.url, { sleep }).send(
      { ...read, reply: 'bytes' },
      {},
      { timeoutMs: 200 },
    );
    await sleep(250);
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect([text, String.fromCodePoint(...(value ?? []))]).toEqual(['', 'x']);
  });

  it('ends when its signal aborts, with the reason of the signal', async () => {
    await using server = await loopback(() => undefined);
    const stop = new AbortController();
    const sending = transport(server.url).send(read, {}, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(sending).rejects.toThrow('enough');
  });

  it('does not begin another attempt once its signal has aborted', async () => {
    await using server = await loopback(answerJson(503, { error: 'unavailable' }));
    const stop = new AbortController();
    const client = transport(server.url, { sleep: stopping(stop) });
    await expect(client.send(read, {}, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.requests).toHaveLength(1);
  });

  it('calls an answer that is no JSON what it is', async () => {
    await using server = await loopback((_, response) => response.end('<html>'));
    const answer = await transport(server.url).send(read, {});
    expect(() => jsonOf(answer)).toThrow('is it Windlass?');
  });
});

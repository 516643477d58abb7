import { describe, expect, it } from 'vitest';
import { type Answer, answerJson, loopback } from '../test/builders/loopback.ts';
import { WindlassApiError } from './api-error.ts';
import { followEvents } from './follow-events.ts';
import type { Operation, ServerEvent } from './operation.ts';
import { sleep } from './sleep.ts';
import { createTransport, type TransportOptions } from './transport.ts';

const stream: Operation = {
  method: 'GET',
  path: '/v1/runs/{id}/stream',
  bearer: true,
  query: [],
  headers: { lastEventId: 'last-event-id' },
  reply: 'events',
  lastEvents: ['completed', 'failed'],
};

const sending =
  (text: string, end: 'end' | 'cut' | 'open' = 'end'): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (end === 'end') response.end();
      if (end === 'cut') response.destroy();
    });
  };
const event = (id: number, data: object): string => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

function follow(server: string, changes: Partial<TransportOptions> = {}, signal?: AbortSignal) {
  const options = optionsFor(server, changes);
  return followEvents(createTransport(options), { operation: stream, request: { id: 'r' }, options: { signal } });
}

function optionsFor(server: string, changes: Partial<TransportOptions> = {}): TransportOptions {
  return {
    server,
    getToken: () => 't',
    tenant: undefined,
    headers: {},
    fetch,
    sleep: (ms, stop) => sleep(ms >= 30_000 ? ms : 0, stop),
    random: () => 0,
    attempts: 2,
    patienceMs: 90_000,
    onRetry: () => undefined,
    timeoutMs: 30_000,
    ...changes,
  };
}

async function all(events: AsyncIterable<ServerEvent<unknown>>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { data } of events) seen.push(data);
  return seen;
}

describe('following events of a call that may not be repeated', () => {
  const once: Operation = { ...stream, method: 'POST', path: '/v1/runs' };
  const followOnce = (server: string, operation: Operation, request: object = {}) => {
    const events = followEvents(createTransport(optionsFor(server)), {
      operation,
      request: { ...request },
      options: {},
    });
    return all(events);
  };

  it('ends with an error when the connection is lost, and asks once', async () => {
    await using server = await loopback(sending(event(1, { started: {} })), sending(event(2, { completed: {} })));
    await expect(followOnce(server.url, once)).rejects.toThrow('broke off');
    expect(server.requests).toHaveLength(1);
  });

  it('continues where a key makes the repetition safe', async () => {
    await using server = await loopback(sending(event(1, { started: {} })), sending(event(2, { completed: {} })));
    const keyed: Operation = { ...once, headers: { ...once.headers, idempotencyKey: 'idempotency-key' } };
    const seen = await followOnce(server.url, keyed, { idempotencyKey: 'k' });
    expect(seen).toEqual([{ started: {} }, { completed: {} }]);
    expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k']);
  });
});

describe('following events', () => {
  it('continues after the last event when the connection is lost, and ends after a terminal event', async () => {
    await using server = await loopback(
      sending(event(1, { started: {} }) + event(2, { step: 1 }), 'cut'),
      sending(event(3, { step: 2 })),
      sending(`${event(4, { completed: {} })}${event(5, { never: 'read' })}`),
    );
    expect(await all(follow(server.url))).toEqual([{ started: {} }, { step: 1 }, { step: 2 }, { completed: {} }]);
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '3']);
  });

  it('knows a terminal event by its name as well', async () => {
    await using server = await loopback(sending('event: failed\ndata: {"a":1,"b":2}\n\n', 'open'));
    expect(await all(follow(server.url))).toEqual([{ a: 1, b: 2 }]);
  });

  it('ends where the server says that nothing follows', async () => {
    await using server = await loopback(sending(event(1, { step: 1 })), (_, response) => response.writeHead(204).end());
    expect(await all(follow(server.url))).toEqual([{ step: 1 }]);
  });

  it('survives a server that is away for longer than one call would', async () => {
    const away = answerJson(503, { error: 'unavailable' });
    await using server = await loopback(
      sending(event(1, { step: 1 })),
      ...Array.from({ length: 7 }, () => away),
      sending(event(2, { completed: {} })),
    );
    expect(await all(follow(server.url))).toEqual([{ step: 1 }, { completed: {} }]);
  });

  it('throws when the first connection is refused, or a later one for good', async () => {
    const gone = answerJson(404, { error: 'Execution not found' });
    await using refused = await loopback(gone);
    await expect(all(follow(refused.url))).rejects.toBeInstanceOf(WindlassApiError);
    await using later = await loopback(sending(event(1, { step: 1 })), gone);
    await expect(all(follow(later.url))).rejects.toMatchObject({ status: 404 });
  });

  it('waits as long as the server asks, and longer each time nothing comes', async () => {
    await using server = await loopback(
      sending(`retry: 1500\n${event(1, { step: 1 })}`),
      sending(''),
      sending(''),
      sending(event(2, { completed: {} })),
    );
    const pauses: number[] = [];
    const pausing: TransportOptions['sleep'] = async (ms, stop) => {
      if (ms < 30_000) pauses.push(ms);
      else await sleep(ms, stop);
    };
    await all(follow(server.url, { sleep: pausing, random: () => 0.999 }));
    expect(pauses).toEqual([1500, 1500, 1500]);
  });

  it('takes a connection for dead that is silent too long', async () => {
    await using server = await loopback(
      sending(event(1, { step: 1 }), 'open'),
      sending(event(2, { completed: {} }), 'open'),
    );
    const impatient: TransportOptions['sleep'] = (ms, stop) => sleep(ms === 45_000 ? 40 : ms === 30_000 ? ms : 0, stop);
    expect(await all(follow(server.url, { sleep: impatient }))).toEqual([{ step: 1 }, { completed: {} }]);
  });

  it('ends the connection when its reader leaves', async () => {
    let closed: () => void = () => undefined;
    const whenClosed = new Promise<void>((resolve) => (closed = resolve));
    await using server = await loopback((request, response) => {
      response.on('close', closed);
      sending(event(1, { step: 1 }), 'open')(request, response);
    });
    for await (const { id } of follow(server.url)) {
      expect(id).toBe('1');
      break;
    }
    await whenClosed;
  });

  it('throws the reason of a signal', async () => {
    await using server = await loopback(sending(event(1, { step: 1 }), 'open'));
    const stop = new AbortController();
    const events = follow(server.url, {}, stop.signal);
    await events.next();
    const next = events.next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  it('does not take an event that is no JSON', async () => {
    await using server = await loopback(sending('data: {"a":\n\n', 'open'));
    await expect(all(follow(server.url))).rejects.toMatchObject({
      name: 'WindlassConnectionError',
      message: `${server.url} did not answer with JSON: is it Windlass?`,
    });
    expect(server.requests).toHaveLength(1);
  });
});

import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { startWay } from '../../../test/support/way.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { busLimits, type EventBus, type Responder } from '../index.ts';
import type { Address, HandleRequest, ServeOptions } from './requester.ts';

/** Requests between processes against the real server. */
let nats: TestBus;
const open: Responder[] = [];
let addresses = 0;

beforeAll(async () => {
  nats = await startTestBus();
}, 300_000);
afterEach(async () => {
  await Promise.all(open.splice(0).map((responder) => responder.close(0)));
  await nats.server.start();
});
afterAll(() => nats.stop());

/** An address that no other test uses. */
function anAddress(): Required<Address> {
  addresses += 1;
  return { service: 'relay.host', key: `host-${addresses}` };
}

async function serve(
  bus: EventBus,
  address: Address,
  handle: HandleRequest,
  options?: ServeOptions,
): Promise<Responder> {
  const responder = bus.serve(address, handle, options);
  open.push(responder);
  await responder.ready;
  return responder;
}

async function eventually(done: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${String(done)}`);
    await systemClock.sleep(10);
  }
}

const second = { timeoutMs: 1_000 };
const text = (body: Uint8Array): string => Buffer.from(body).toString();
const echo: HandleRequest = async ({ body }) => body;

describe('a request', () => {
  it('reaches the one replica that holds the host, whichever replica asks', async () => {
    const [one, two, asking] = [nats.connect(), nats.connect(), nats.connect()];
    const [first, other] = [anAddress(), anAddress()];
    await serve(one, first, async ({ key, body }) => `one ${key} ${text(body)}`);
    await serve(two, other, async ({ key, body }) => `two ${key} ${text(body)}`);
    expect(text(await asking.request(first, 'run', second))).toBe(`one ${first.key} run`);
    expect(text(await asking.request(other, 'run', second))).toBe(`two ${other.key} run`);
    expect(text(await one.request(other, 'run', second))).toBe(`two ${other.key} run`);
  });

  it('reaches one of the replicas that serve the same address', async () => {
    const [one, two] = [nats.connect(), nats.connect()];
    const address = { service: 'gateway.call' };
    const got = { one: 0, two: 0 };
    await serve(one, address, async () => String((got.one += 1)));
    await serve(two, address, async () => String((got.two += 1)));
    for (let i = 0; i < 100; i += 1) await one.request(address, '', second);
    expect(got.one + got.two).toBe(100);
    expect(Math.min(got.one, got.two)).toBeGreaterThan(5);
  });

  it('to an address that no process serves fails at once, and says so', async () => {
    const bus = nats.connect();
    await eventually(() => bus.problem() === undefined);
    const start = Date.now();
    await expect(
      bus.request({ service: 'relay.host', key: 'gone' }, 'run', { timeoutMs: 20_000 }),
    ).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'NoResponders',
      message: 'no process serves relay.host "gone" now',
    });
    expect(Date.now() - start).toBeLessThan(1_000);
  });

  it('that is not answered in time ends in a timeout on both sides', async () => {
    const [bus, address] = [nats.connect(), anAddress()];
    let isAborted = false;
    await serve(bus, address, ({ signal }) => {
      signal.addEventListener('abort', () => (isAborted = true));
      return new Promise(() => undefined);
    });
    const start = Date.now();
    await expect(bus.request(address, '', { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'timeout',
      reason: 'RequestTimeout',
    });
    expect(Date.now() - start).toBeLessThan(1_000);
    await eventually(() => isAborted);
  });

  it('ends with the signal of its caller', async () => {
    const [bus, address] = [nats.connect(), anAddress()];
    await serve(bus, address, () => new Promise(() => undefined));
    const caller = new AbortController();
    const asked = bus.request(address, '', { timeoutMs: 10_000, signal: caller.signal });
    await systemClock.sleep(50);
    caller.abort();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });

  it.each<[string, unknown, object]>([
    [
      'an error of its own',
      new AppError('conflict', 'epoch 3 is over', { reason: 'EpochOver' }),
      { code: 'conflict', reason: 'EpochOver', message: 'epoch 3 is over' },
    ],
    [
      'anything else, which stays inside',
      new Error('password=hunter2'),
      { code: 'internal', reason: 'Error', message: 'internal error' },
    ],
  ])('is answered with %s', async (_what, thrown, want) => {
    const [bus, address] = [nats.connect(), anAddress()];
    await serve(bus, address, () => Promise.reject(thrown));
    await expect(bus.request(address, '', second)).rejects.toMatchObject(want);
  });

  it.each([
    [busLimits.requestBytes - 1, 'taken'],
    [busLimits.requestBytes, 'taken'],
    [busLimits.requestBytes + 1, 'refused'],
  ])('of %d bytes is %s, and so is such an answer', async (bytes, want) => {
    const [bus, address, short] = [nats.connect(), anAddress(), anAddress()];
    await serve(bus, address, echo);
    await serve(bus, short, async () => new Uint8Array(bytes));
    const outcome = (asked: Promise<Uint8Array>): Promise<string> =>
      asked.then(
        ({ byteLength }) => (byteLength === bytes ? 'taken' : 'cut'),
        (error: unknown) =>
          error instanceof AppError && error.reason === 'RequestTooLarge' ? 'refused' : String(error),
      );
    expect(await outcome(bus.request(address, new Uint8Array(bytes), second))).toBe(want);
    expect(await outcome(bus.request(short, '', second))).toBe(want);
  });

  it('beyond those that a service answers at a time is refused at once, and the next one is not', async () => {
    const [bus, address] = [nats.connect(), anAddress()];
    const release = Promise.withResolvers<string>();
    await serve(bus, address, () => release.promise, { atOnce: 2 });
    const asked = [bus.request(address, '', second), bus.request(address, '', second)];
    await systemClock.sleep(50);
    await expect(bus.request(address, '', second)).rejects.toMatchObject({ code: 'unavailable', reason: 'Overloaded' });
    release.resolve('done');
    expect((await Promise.all(asked)).map(text)).toEqual(['done', 'done']);
    expect(text(await bus.request(address, '', second))).toBe('done');
  });

  it('to a replica that stops is answered, and another replica gets the next one', async () => {
    const [one, two, address] = [nats.connect(), nats.connect(), anAddress()];
    const release = Promise.withResolvers<string>();
    const stopping = await serve(one, address, () => release.promise);
    const asked = two.request(address, '', second);
    await systemClock.sleep(50);
    const closed = stopping.close(5_000);
    await serve(two, address, async () => 'two');
    expect(text(await two.request(address, '', second))).toBe('two');
    release.resolve('one');
    expect(text(await asked)).toBe('one');
    await closed;
  });

  it('is answered whenever it was sent, while replicas of the service come and stop', async () => {
    const [one, two, caller, address] = [nats.connect(), nats.connect(), nats.connect(), anAddress()];
    await serve(one, address, echo);
    for (let round = 0; round < 20; round++) {
      const stopping = await serve(two, address, echo);
      const asked = Array.from({ length: 100 }, (_, index) => caller.request(address, `${round}-${index}`, second));
      const closed = stopping.close(5_000);
      expect(await Promise.all(asked)).toHaveLength(100);
      await closed;
    }
  });

  it('is taken again as soon as the replica is connected again, without a pause', async () => {
    const way = await startWay();
    way.leadTo(Number(new URL(nats.server.url).port));
    // The pause before a connection is opened anew has 100 ms at most. Each longer one lasts for ever.
    const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms > 100 ? 3_600_000 : ms, signal);
    const url = { WINDLASS_NATS_URL: way.url.replace('http:', 'nats:') };
    const [asking, holding] = [nats.connect(), nats.connect(url, { clock: { ...systemClock, sleep } })];
    const address = anAddress();
    await serve(holding, address, echo);
    way.cut();
    await eventually(() => holding.problem() !== undefined);
    way.mend();
    await eventually(() => holding.problem() === undefined);
    let answer: string | undefined;
    await eventually(async () => {
      answer = await asking.request(address, 'again', second).then(text, () => undefined);
      return answer !== undefined;
    }, 5_000);
    expect(answer).toBe('again');
    await way.close();
  });

  it('works again after the server was killed, and fails before in a known way', async () => {
    const [bus, address] = [nats.connect(), anAddress()];
    const hangs = anAddress();
    await serve(bus, address, echo);
    await serve(bus, hangs, () => new Promise(() => undefined));
    const cut = bus.request(hangs, '', { timeoutMs: 5_000 }).catch((error: unknown) => error);
    await systemClock.sleep(50);
    await nats.server.kill();
    expect(await cut).toMatchObject({ code: 'timeout', reason: 'RequestTimeout' });
    await systemClock.sleep(600);
    await expect(bus.request(address, '', second)).rejects.toMatchObject({ reason: 'EventBusUnavailable' });
    await nats.server.start();
    await eventually(() =>
      bus.request(address, 'again', second).then(
        (body) => text(body) === 'again',
        () => false,
      ),
    );
  });

  it.each([
    ['', 'k'],
    ['Upper', 'k'],
    ['a..b', 'k'],
    ['a.*', 'k'],
    ['a b', 'k'],
    ['a', 'x'.repeat(513)],
    ['a', '\ud800'],
  ])('to the service %j is refused for its address', async (service, key) => {
    await expect(nats.connect().request({ service, key }, '', second)).rejects.toMatchObject({
      reason: 'AddressInvalid',
    });
  });

  it.each(['*', '>', 'a.b', 'a b', '', 'Ünïcode', '=x', 'x'.repeat(512)])(
    'with the key %j reaches that key and no other',
    async (key) => {
      const bus = nats.connect();
      const service = 'keys';
      await serve(bus, { service, key }, async (request) => request.key);
      expect(text(await bus.request({ service, key }, '', second))).toBe(key);
      await expect(bus.request({ service, key: 'another' }, '', second)).rejects.toMatchObject({
        reason: 'NoResponders',
      });
      await open.splice(0)[0]?.close(0);
    },
  );

  it.each([0, -1, busLimits.requestMaxMs + 1, Number.NaN])(
    'with %d ms for its answer is refused',
    async (timeoutMs) => {
      await expect(nats.connect().request(anAddress(), '', { timeoutMs })).rejects.toMatchObject({
        reason: 'TimeoutInvalid',
      });
    },
  );
});

describe('a request to every replica', () => {
  const everywhere = { replicas: 'every' } as const;

  it('is answered by each, as for the revocation of a session, and is over once all have answered', async () => {
    const buses = [nats.connect(), nats.connect(), nats.connect()];
    const address = { service: 'gateway.revoked' };
    for (const [i, bus] of buses.entries()) await serve(bus, address, async () => `ended ${i}`, everywhere);
    const start = Date.now();
    const answers = await nats.connect().requestAll(address, 'session-1', { timeoutMs: 5_000, expected: 3 });
    expect(answers.map(text).toSorted()).toEqual(['ended 0', 'ended 1', 'ended 2']);
    expect(Date.now() - start).toBeLessThan(2_000);
  });

  it('gives the answers that came in time', async () => {
    const [one, two] = [nats.connect(), nats.connect()];
    const address = { service: 'gateway.slow' };
    await serve(one, address, async () => 'quick', everywhere);
    await serve(two, address, () => new Promise(() => undefined), everywhere);
    const answers = await one.requestAll(address, '', { timeoutMs: 300, expected: 2 });
    expect(answers.map(text)).toEqual(['quick']);
  });

  it('that no replica serves has no answers', async () => {
    expect(await nats.connect().requestAll({ service: 'nowhere' }, '', { timeoutMs: 300 })).toEqual([]);
  });
});

describe('an answer that is made up by another client of the server', () => {
  it.each([
    ['no JSON', '}', 'internal'],
    ['an unknown code', '{"code":"__proto__","message":"m"}', 'internal'],
    ['a list', '[]', 'internal'],
  ])('with an error that is %s is an internal error', async (_what, body, code) => {
    const [bus, address] = [nats.connect(), anAddress()];
    const connection = await connect({ servers: nats.server.url });
    const { headers } = await import('@nats-io/transport-node');
    connection.subscribe(`windlass.request.${address.service}.${address.key}`, {
      callback: (_error, message) => {
        const fields = headers();
        fields.set('Windlass-Error', '1');
        message.respond(body, { headers: fields });
      },
    });
    await connection.flush();
    await expect(bus.request(address, '', second)).rejects.toMatchObject({ code });
    await connection.close();
  });
});

it('an address is closed whose connection is lost while the server hears of its end', async () => {
  const responder = await serve(await nats.connected(), anAddress(), async () => 'here');
  await nats.server.freeze();
  const closed = responder.close(0);
  await nats.server.kill();
  expect(await closed).toBeUndefined();
});

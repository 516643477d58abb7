import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storedEvents } from '../../../test/nats/stored-events.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { systemClock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { type BusEvent, busLimits, type EventBus, type StreamDefinition, type Subscription } from '../index.ts';
import type { Delivery } from './subscription.ts';

/** Durable consumers against the real server. */
let nats: TestBus;
const open: Subscription[] = [];
let streams = 0;

beforeAll(async () => {
  nats = await startTestBus();
}, 300_000);
afterEach(async () => {
  await Promise.all(open.splice(0).map((subscription) => subscription.close(0)));
  await nats.server.start();
});
afterAll(() => nats.stop());

/** A stream that no other test uses. */
function aStream(): StreamDefinition {
  streams += 1;
  return { name: `test-${streams}`, retention: { maxAgeMs: 3_600_000, maxBytes: 64 * 1_048_576 } };
}

const subscribed = (subscription: Subscription): Subscription => {
  open.push(subscription);
  return subscription;
};

const textOf = ({ body }: Delivery): string => Buffer.from(body).toString();

async function eventually(done: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${String(done)}`);
    await systemClock.sleep(10);
  }
}

async function append(
  bus: EventBus,
  source: StreamDefinition,
  tenant: string,
  bodies: readonly string[],
): Promise<void> {
  for (const body of bodies) await bus.stream(source).append({ tenant, key: 'k', body });
}

/** The sequence up to which the server has every message as acknowledged. */
async function acknowledgedUpTo(stream: string, consumer: string): Promise<number> {
  const connection = await connect({ servers: nats.server.url });
  try {
    const { consumers } = await jetstreamManager(connection);
    return (await consumers.info(`WINDLASS_STREAM_${stream}`, consumer)).ack_floor.stream_seq;
  } finally {
    await connection.close();
  }
}

const numbers = (count: number, prefix = ''): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const fast = { backoff: { baseMs: 20, maxMs: 40 } };

describe('a durable consumer', () => {
  it('gets every message, with whose it is, its key and its place, also those of before it was there', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    const first = await bus.stream(source).append({ tenant: 'acme', key: 'a.b *', body: 'one' });
    const got: Delivery[] = [];
    subscribed(bus.subscribe({ name: 'all', source, concurrency: 4 }, async (delivery) => void got.push(delivery)));
    await bus.stream(source).append({ tenant: 'other corp', key: 'k', body: new Uint8Array([0, 255]) });
    await eventually(() => got.length === 2);
    expect(
      got.map(({ tenant, key, body, attempt, sequence }) => ({ tenant, key, body: [...body], attempt, sequence })),
    ).toEqual([
      { tenant: 'acme', key: 'a.b *', body: [...Buffer.from('one')], attempt: 1, sequence: first },
      { tenant: 'other corp', key: 'k', body: [0, 255], attempt: 1, sequence: (first ?? 0) + 1 },
    ]);
    expect(Date.parse(got[0]?.time ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('that begins now gets nothing of before', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    await append(bus, source, 'acme', ['old']);
    const got: string[] = [];
    subscribed(
      bus.subscribe({ name: 'late', source, from: 'now', concurrency: 1 }, async (d) => void got.push(textOf(d))),
    );
    await eventually(async () => {
      await append(bus, source, 'acme', ['new']);
      return got.length > 0;
    });
    expect(new Set(got)).toEqual(new Set(['new']));
  });

  it('gets events of one topic, and audit events', async () => {
    const bus = nats.connect();
    const got: string[] = [];
    const note = async ({ tenant, key, body }: Delivery): Promise<void> => {
      const { type } = JSON.parse(Buffer.from(body).toString()) as { type: string };
      got.push(`${tenant} ${key} ${type}`);
    };
    subscribed(bus.subscribe({ name: 'volumes', source: 'events', key: 'volume', from: 'now', concurrency: 1 }, note));
    subscribed(bus.subscribe({ name: 'audit', source: 'audit', from: 'now', concurrency: 1 }, note));
    const event = (topic: string): BusEvent => ({
      id: `e-${Math.random()}`,
      topic,
      source: 'api',
      type: `Of-${topic}`,
      subject: 's',
      tenant: 'topics',
      time: '2026-01-01T00:00:00Z',
      data: {},
    });
    await eventually(async () => {
      for (const topic of ['stimulus', 'volume', 'audit']) await bus.publish(event(topic));
      return new Set(got).size === 2;
    });
    expect(new Set(got)).toEqual(new Set(['topics volume Of-volume', 'topics  Of-audit']));
  });

  it('of two replicas hands each message to one of them', async () => {
    const [one, two, source] = [nats.connect(), nats.connect(), aStream()];
    await append(one, source, 'acme', numbers(200));
    const got: Record<string, string[]> = { one: [], two: [] };
    const take = (name: string) => async (delivery: Delivery) => {
      await systemClock.sleep(1);
      got[name]?.push(textOf(delivery));
    };
    subscribed(one.subscribe({ name: 'shared', source, concurrency: 4 }, take('one')));
    subscribed(two.subscribe({ name: 'shared', source, concurrency: 4 }, take('two')));
    await eventually(() => (got['one']?.length ?? 0) + (got['two']?.length ?? 0) >= 200);
    await systemClock.sleep(100);
    expect([...(got['one'] ?? []), ...(got['two'] ?? [])].toSorted()).toEqual(numbers(200).toSorted());
    expect(got['one']?.length).toBeGreaterThan(0);
    expect(got['two']?.length).toBeGreaterThan(0);
  });

  it('that handles one message at a time keeps their order, over two replicas and a failure', async () => {
    const [one, two, source] = [nats.connect(), nats.connect(), aStream()];
    await append(one, source, 'acme', numbers(30));
    const got: string[] = [];
    let underWay = 0;
    const take = async (delivery: Delivery) => {
      underWay += 1;
      expect(underWay).toBe(1);
      await systemClock.sleep(2);
      underWay -= 1;
      if (textOf(delivery) === '7' && delivery.attempt < 3) throw new Error('not yet');
      got.push(textOf(delivery));
    };
    const definition = { name: 'ordered', source, concurrency: 1, ...fast };
    subscribed(one.subscribe(definition, take));
    subscribed(two.subscribe(definition, take));
    await eventually(() => got.length === 30);
    expect(got).toEqual(numbers(30));
  });
});

describe('a message that fails', () => {
  it.each([1, 2, 3])(
    '%d times of three attempts comes again after a delay, and is then handled or dead',
    async (failures) => {
      const [source, outcomes] = [aStream(), [] as string[]];
      const bus = nats.connect({}, { observer: { delivered: (_, outcome) => void outcomes.push(outcome) } });
      await append(bus, source, `failing-${failures}`, ['x']);
      const attempts: number[] = [];
      subscribed(
        bus.subscribe({ name: 'failing', source, concurrency: 1, attempts: 3, ...fast }, async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt <= failures) throw new AppError('unavailable', 'away');
        }),
      );
      const last = failures === 3 ? 'dead' : 'done';
      await eventually(() => outcomes.includes(last));
      await systemClock.sleep(200);
      expect(attempts).toEqual([1, 2, 3].slice(0, Math.min(3, failures + 1)));
      expect(outcomes).toEqual([...Array.from({ length: Math.min(failures, 2) }, () => 'again'), last]);
      const events = await storedEvents(nats.server, `failing-${failures}`, 'bus');
      expect(events.map(({ type, subject, data }) => ({ type, subject, ...data }))).toEqual(
        failures < 3
          ? []
          : [
              {
                type: 'MessageDeadLettered',
                subject: 'failing',
                consumer: 'failing',
                stream: `WINDLASS_STREAM_${source.name}`,
                sequence: 1,
                attempts: 3,
                reason: 'AttemptsExhausted',
              },
            ],
      );
    },
  );

  it('for good is dead at once, stays readable, and lets the next one through', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    await append(bus, source, 'poison', ['bad', 'good']);
    const got: string[] = [];
    subscribed(
      bus.subscribe({ name: 'poison', source, concurrency: 1 }, async (delivery) => {
        got.push(textOf(delivery));
        if (textOf(delivery) === 'bad') throw new AppError('invalid', 'no JSON', { reason: 'NoJson' });
      }),
    );
    await eventually(async () => (await storedEvents(nats.server, 'poison', 'bus')).length === 1);
    await eventually(() => got.length === 2);
    expect(got).toEqual(['bad', 'good']);
    expect((await storedEvents(nats.server, 'poison', 'bus'))[0]?.data).toMatchObject({
      reason: 'NoJson',
      attempts: 1,
    });
    expect(
      (await bus.stream(source).read({ tenant: 'poison', key: 'k', after: 0, bytes: busLimits.pageBytes })).length,
    ).toBe(2);
  });

  it('about dead letters makes no further dead letter', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    subscribed(
      bus.subscribe(
        { name: 'loop', source: 'events', key: 'bus', from: 'now', concurrency: 1, attempts: 1 },
        async () => {
          throw new Error('never works');
        },
      ),
    );
    subscribed(
      bus.subscribe({ name: 'broken', source, concurrency: 1, attempts: 1 }, async () => {
        throw new Error('never works');
      }),
    );
    await systemClock.sleep(300);
    await append(bus, source, 'loops', ['x']);
    await eventually(async () => (await storedEvents(nats.server, 'loops', 'bus')).length === 1);
    await systemClock.sleep(500);
    expect(await storedEvents(nats.server, 'loops', 'bus')).toHaveLength(1);
  });

  it('because its time is over has an aborted signal that says so', async () => {
    const [source, outcomes] = [aStream(), [] as string[]];
    const bus = nats.connect({}, { observer: { delivered: (_, outcome) => void outcomes.push(outcome) } });
    await append(bus, source, 'slow', ['x']);
    let isAborted = false;
    subscribed(
      bus.subscribe({ name: 'slow', source, concurrency: 1, attempts: 1, handleMs: 50 }, ({ signal }) => {
        signal.addEventListener('abort', () => (isAborted = true));
        return new Promise(() => undefined);
      }),
    );
    await eventually(() => outcomes.length === 1);
    expect([isAborted, outcomes]).toEqual([true, ['dead']]);
  });
});

describe('tenants', () => {
  it('have consumers of their own: 2,000 messages of one, which hang, keep no other waiting', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    await Promise.all(numbers(2_000).map((body) => bus.stream(source).append({ tenant: 'busy', key: 'k', body })));
    await append(bus, source, 'quiet', numbers(5));
    const [got, release] = [[] as string[], Promise.withResolvers<void>()];
    const subscription = subscribed(
      bus.subscribe({ name: 'fair', source, consumers: 'tenants', concurrency: 10 }, async (delivery) => {
        if (delivery.tenant === 'busy') await release.promise;
        else got.push(textOf(delivery));
      }),
    );
    subscription.serve(['busy']);
    await systemClock.sleep(300);
    const start = Date.now();
    subscription.serve(['busy', 'quiet']);
    await eventually(() => got.length === 5);
    expect(Date.now() - start).toBeLessThan(2_000);
    release.resolve();
  });

  it('that are served no longer keep their place until they are again', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    const got: string[] = [];
    const subscription = subscribed(
      bus.subscribe(
        { name: 'leaving', source, consumers: 'tenants', concurrency: 2 },
        async (d) => void got.push(textOf(d)),
      ),
    );
    subscription.serve(['a tenant']);
    await append(bus, source, 'a tenant', ['1']);
    await append(bus, source, 'not served', ['x']);
    await eventually(() => got.length === 1);
    subscription.serve([]);
    await systemClock.sleep(100);
    await append(bus, source, 'a tenant', ['2']);
    await systemClock.sleep(200);
    expect(got).toEqual(['1']);
    subscription.serve(['a tenant']);
    await eventually(() => got.length === 2);
    expect(got).toEqual(['1', '2']);
  });
});

describe('a process that stops', () => {
  it('finishes what is under way, and returns what is not begun to another replica at once', async () => {
    const [source, outcomes] = [aStream(), [] as string[]];
    const bus = nats.connect({}, { observer: { delivered: (_, outcome) => void outcomes.push(outcome) } });
    await append(bus, source, 'acme', numbers(8));
    const [begun, release] = [[] as string[], Promise.withResolvers<void>()];
    const stopping = bus.subscribe({ name: 'stopping', source, concurrency: 5 }, async (delivery) => {
      begun.push(textOf(delivery));
      await release.promise;
    });
    // One tenant has four of five places, so the fifth message waits for its turn.
    await eventually(() => begun.length === 4);
    await systemClock.sleep(100);
    const closed = stopping.close(10_000);
    await systemClock.sleep(50);
    expect(begun).toHaveLength(4);
    release.resolve();
    await closed;
    expect(outcomes.toSorted()).toEqual(['done', 'done', 'done', 'done', 'returned']);
    const rest: string[] = [];
    const start = Date.now();
    subscribed(
      nats.connect().subscribe({ name: 'stopping', source, concurrency: 5 }, async (d) => void rest.push(textOf(d))),
    );
    await eventually(() => rest.length === 4);
    expect(Date.now() - start).toBeLessThan(5_000);
    expect([...begun, ...rest].toSorted()).toEqual(numbers(8));
  });

  it('breaks off after its grace what does not end, and another replica gets it', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    await append(bus, source, 'acme', ['x']);
    let attempts = 0;
    bus.subscribe({ name: 'stuck', source, concurrency: 1 }, () => {
      attempts += 1;
      return new Promise(() => undefined);
    });
    await eventually(() => attempts === 1);
    const start = Date.now();
    await bus.close(200);
    expect(Date.now() - start).toBeLessThan(2_000);
    const rest: number[] = [];
    subscribed(
      nats.connect().subscribe({ name: 'stuck', source, concurrency: 1 }, async (d) => void rest.push(d.attempt)),
    );
    await eventually(() => rest.length === 1, 5_000);
    expect(rest).toEqual([2]);
  });
});

describe('a server that is killed', () => {
  it('three times under load loses nothing: every stored message is handled, and none that the server has as acknowledged', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    const stored: string[] = [];
    const handled = new Set<string>();
    const again: number[] = [];
    // The sequence up to which the server has acknowledgements. A power cut takes those that it had not written yet.
    let acknowledged = 0;
    const look = async (): Promise<number> => {
      acknowledged = await acknowledgedUpTo(source.name, 'lasting').catch(() => 0);
      return acknowledged;
    };
    subscribed(
      bus.subscribe({ name: 'lasting', source, concurrency: 8, ...fast }, async (delivery) => {
        handled.add(textOf(delivery));
        if (delivery.sequence <= acknowledged) again.push(delivery.sequence);
      }),
    );
    await eventually(() => bus.problem() === undefined);
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 100; i += 1) {
        const body = `${round}-${i}`;
        const sequence = await bus
          .stream(source)
          .append({ tenant: 'acme', key: 'k', body, id: body })
          .catch(() => undefined);
        if (sequence !== undefined) stored.push(body);
        if (round === 0 && i === 40) await eventually(async () => (await look()) > 0);
        if (i === 50) {
          acknowledged = 0;
          await nats.server.kill();
        }
        if (i === 60) await nats.server.start();
        if (i === 60) await eventually(() => bus.problem() === undefined);
        if (i === 80) await look();
      }
    }
    expect(stored.length).toBeGreaterThan(200);
    await eventually(() => stored.every((body) => handled.has(body)), 60_000);
    expect(again).toEqual([]);
  });

  it('recovers from a consumer that an administrator deleted', async () => {
    const [bus, source] = [nats.connect(), aStream()];
    const got: string[] = [];
    subscribed(bus.subscribe({ name: 'deleted', source, concurrency: 1 }, async (d) => void got.push(textOf(d))));
    await append(bus, source, 'acme', ['1']);
    await eventually(() => got.length === 1);
    const connection = await connect({ servers: nats.server.url });
    await (await jetstreamManager(connection)).consumers.delete(`WINDLASS_STREAM_${source.name}`, 'deleted');
    await connection.close();
    await append(bus, source, 'acme', ['2']);
    await eventually(() => got.includes('2'), 40_000);
    expect(new Set(got)).toEqual(new Set(['1', '2']));
  });
});

describe('a definition', () => {
  it.each([['Upper'], ['a.b'], [''], ['x'.repeat(64)]])('with the name %j is refused', (name) => {
    const bus = nats.connect();
    const subscribe = () => bus.subscribe({ name, source: 'events', concurrency: 1 }, async () => undefined);
    expect(subscribe).toThrow(/name/);
  });

  it.each([0, 1.5, -1])('with a concurrency of %d is refused', (concurrency) => {
    const bus = nats.connect();
    expect(() => bus.subscribe({ name: 'a', source: 'events', concurrency }, async () => undefined)).toThrow(
      /concurrency/,
    );
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeCertificate } from '../../test/cluster/harness/certificate.ts';
import { type NatsServer, startNatsServer } from '../../test/nats/nats-server.ts';
import { makeOperator } from '../../test/nats/operator.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type BusConfig, busOptions } from './bus-config.ts';
import type { BusObserver } from './bus-observer.ts';
import { createEventBus } from './create-event-bus.ts';
import type { BusEvent, EventBus } from './event-bus.ts';
import { buckets } from './kv/buckets.ts';
import { busLimits } from './limits.ts';

/** The adapter against the real server. */
let server: NatsServer;
const open: EventBus[] = [];
const dropped: string[] = [];
const outcomes: string[] = [];

const observer: BusObserver = {
  connected: () => undefined,
  called: (operation, outcome) => void outcomes.push(`${operation} ${outcome}`),
  waiting: () => undefined,
  dropped: (reason, events) => void dropped.push(`${reason} ${events}`),
  delivered: () => undefined,
  answered: () => undefined,
};

const defaults: BusConfig = {
  WINDLASS_NATS_REPLICAS: 1,
  WINDLASS_EVENTS_MAX_AGE_HOURS: 24,
  WINDLASS_EVENTS_MAX_MB: 64,
  WINDLASS_AUDIT_MAX_AGE_HOURS: 48,
  WINDLASS_AUDIT_MAX_MB: 64,
  WINDLASS_CONVERSATIONS_MAX_MB: 64,
  WINDLASS_EDGE_RESULTS_MAX_MB: 64,
  WINDLASS_KEYS_MAX_MB: 64,
};

function connectBus(config: Partial<BusConfig> = {}, logger = silentLogger): EventBus {
  const deps = { clock: systemClock, logger, observer, random: Math.random };
  const bus = createEventBus(deps, 'test', busOptions({ ...defaults, WINDLASS_NATS_URL: server.url, ...config }));
  open.push(bus);
  return bus;
}

function anEvent(fields: Partial<BusEvent> = {}): BusEvent {
  return {
    id: `event-${Math.random()}`,
    topic: 'stimulus',
    source: 'api',
    type: 'StimulusReceived',
    subject: 'stimulus-1',
    tenant: 'acme',
    time: '2026-01-01T00:00:00Z',
    data: { stimulus_id: 'stimulus-1' },
    ...fields,
  };
}

interface Stored {
  readonly subject: string;
  readonly event: Record<string, unknown>;
  readonly headers: Record<string, string>;
}

/** Everything a stream holds, read by a client of its own. */
async function storedIn(stream: string, { url } = server): Promise<Stored[]> {
  const connection = await connect({ servers: url });
  try {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info(stream);
    const messages: Stored[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
      const message = await manager.streams.getMessage(stream, { seq });
      if (message === null) continue;
      const headers = Object.fromEntries(message.header.keys().map((key) => [key, message.header.get(key)]));
      messages.push({ subject: message.subject, event: message.json(), headers });
    }
    return messages;
  } finally {
    await connection.close();
  }
}

async function settings(stream: string, { url } = server): Promise<Record<string, unknown>> {
  const connection = await connect({ servers: url });
  const { config } = await (await jetstreamManager(connection)).streams.info(stream);
  await connection.close();
  return { ...config };
}

async function eventually(what: () => Promise<boolean> | boolean, timeoutMs = 15_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await what())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${String(what)}`);
    await systemClock.sleep(20);
  }
}

const isConnected = (bus: EventBus) => eventually(() => bus.problem() === undefined);

beforeAll(async () => {
  server = await startNatsServer();
}, 300_000);

afterEach(async () => {
  await Promise.all(open.splice(0).map((bus) => bus.close(0)));
  dropped.length = 0;
  outcomes.length = 0;
  await server.start();
});

afterAll(() => server.stop());

describe('an event', () => {
  it('ROUTE-18 is stored as a CloudEvent under the tenant and the topic `stimulus`', async () => {
    const event = anEvent({ tenant: 'first' });
    await connectBus().publish(event);
    const stored = (await storedIn('WINDLASS_EVENTS')).find(
      ({ subject }) => subject === 'windlass.events.first.stimulus',
    );
    expect(stored?.event).toEqual({
      specversion: '1.0',
      id: event.id,
      source: '/windlass/api',
      type: 'StimulusReceived',
      subject: 'stimulus-1',
      time: '2026-01-01T00:00:00Z',
      datacontenttype: 'application/json',
      tenant: 'first',
      data: { stimulus_id: 'stimulus-1' },
    });
    expect(stored?.headers).toMatchObject({ 'Content-Type': 'application/cloudevents+json; charset=utf-8' });
  });

  it('of the audit is stored in a stream of its own, from which nothing can be taken back', async () => {
    await connectBus().publish(anEvent({ topic: 'audit', tenant: 'audited', type: 'ExecutionCancelled' }));
    const stored = await storedIn('WINDLASS_AUDIT');
    expect(stored.map(({ subject, event }) => [subject, event.type])).toContainEqual([
      'windlass.audit.audited',
      'ExecutionCancelled',
    ]);
    expect(await settings('WINDLASS_AUDIT')).toMatchObject({ deny_delete: true, deny_purge: true });
  });

  it('that two replicas publish, is stored once', async () => {
    const event = anEvent({ tenant: 'twice' });
    const [one, two] = [connectBus(), connectBus()];
    await Promise.all([one.publish(event), two.publish(event), one.publish(event)]);
    const stored = (await storedIn('WINDLASS_EVENTS')).filter(({ event: { tenant } }) => tenant === 'twice');
    expect(stored).toHaveLength(1);
  });

  it.each(['a.b', '*', '>', 'a b', '', 'Ünïcode', 'x'.repeat(300)])(
    'of the tenant %j has one token of its own in the subject',
    async (tenant) => {
      await connectBus().publish(anEvent({ tenant }));
      const stored = (await storedIn('WINDLASS_EVENTS')).filter(({ event }) => event.tenant === tenant);
      expect(stored.map(({ subject }) => subject.split('.').length)).toEqual([4]);
    },
  );

  it('with a line break in its id is stored once', async () => {
    const event = anEvent({ tenant: 'broken-id', id: 'a\r\nNats-Msg-Id: b' });
    const bus = connectBus();
    await bus.publish(event);
    await bus.publish(event);
    const stored = (await storedIn('WINDLASS_EVENTS')).filter(({ event: { tenant } }) => tenant === 'broken-id');
    expect(stored.map(({ event: { id } }) => id)).toEqual([event.id]);
  });

  it('that is larger than the server takes is refused, and the connection stays open', async () => {
    const bus = connectBus();
    const large = anEvent({ data: { text: 'x'.repeat(1_048_576) } });
    await expect(bus.publish(large)).rejects.toMatchObject({ code: 'limit_exceeded' });
    await bus.publish(anEvent());
    expect(outcomes).toEqual(['publish refused', 'publish ok']);
  });
});

describe('a bucket', () => {
  const day = { name: 'test_day', ttlMs: 24 * 3_600_000 };

  it('STIM-25 lets exactly one of 200 parallel creates over two connections win', async () => {
    const [one, two] = [connectBus().bucket<number>(day), connectBus().bucket<number>(day)];
    const calls = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? one : two).create('contended', i, 'acme'));
    const won = (await Promise.all(calls)).flatMap((revision, i) => (revision === undefined ? [] : [{ revision, i }]));
    expect(won).toHaveLength(1);
    const want = { value: won[0]?.i, revision: won[0]?.revision };
    expect([await one.get('contended'), await two.get('contended')]).toEqual([want, want]);
  });

  it('lets one of two updates of the same revision win', async () => {
    const [one, two] = [connectBus().bucket<string>(day), connectBus().bucket<string>(day)];
    const revision = (await one.create('updated', 'first', 'acme')) ?? 0;
    const results = await Promise.all([one.update('updated', 'one', revision), two.update('updated', 'two', revision)]);
    expect(results.filter((result) => result !== undefined)).toHaveLength(1);
    const winner = results[0] === undefined ? 'two' : 'one';
    expect((await one.get('updated'))?.value).toBe(winner);
  });

  it('takes a note at the revision of its key, and loses a later one', async () => {
    const bucket = connectBus().bucket<string>(day);
    const revision = (await bucket.create('noted', 'first', 'acme')) ?? 0;
    bucket.note('noted', 'mine', revision);
    bucket.note('noted', 'late', revision);
    await vi.waitFor(async () => expect((await bucket.get('noted'))?.value).toBe('mine'), { timeout: 10_000 });
    // A write behind both of them.
    const noted = (await bucket.get('noted'))?.revision ?? 0;
    expect(await bucket.update('noted', 'next', noted)).toBeGreaterThan(noted);
    expect((await bucket.get('noted'))?.value).toBe('next');
  });

  it('frees a key that is deleted at its revision, and no other', async () => {
    const bucket = connectBus().bucket<string>(day);
    const first = (await bucket.create('freed', 'a', 'acme')) ?? 0;
    const second = (await bucket.update('freed', 'b', first)) ?? 0;
    await bucket.delete('freed', first);
    expect((await bucket.get('freed'))?.value).toBe('b');
    await bucket.delete('freed', second);
    expect(await bucket.get('freed')).toBeUndefined();
    expect(await bucket.create('freed', 'c', 'acme')).toBeGreaterThan(second);
    expect(await bucket.create('freed', 'd', 'acme')).toBeUndefined();
  });

  it.each<[string, string]>([
    ['no text', ''],
    ['a dot', '.'],
    ['a space', 'a b'],
    ['a star', '*'],
    ['a tail wildcard', '>'],
    ['two tokens', 'a.b'],
    ['a path', '../x'],
    ['NUL', 'a\u0000b'],
    ['half a surrogate pair', '\ud800'],
    ['another half', '\ud801'],
    ['an emoji', '💥'],
    ['a name of prototypes', '__proto__'],
    ['100,000 characters', 'k'.repeat(100_000)],
    ['100,001 characters', 'k'.repeat(100_001)],
  ])('takes %s as a key of its own', async (what, key) => {
    const bucket = connectBus().bucket<string>(day);
    expect(await bucket.create(key, what, 'acme')).toBeGreaterThan(0);
    expect(await bucket.create(key, 'again', 'acme')).toBeUndefined();
    expect((await bucket.get(key))?.value).toBe(what);
  });

  it('has its answer although the process heard nothing for longer than an answer may take', async () => {
    const bus = connectBus();
    expect(await bus.bucket(day).create('busy', 'value', 'acme')).toBeDefined();
    const asked = bus.bucket(day).get('busy');
    await immediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    expect(await asked).toMatchObject({ value: 'value' });
  });

  it('answers nothing for a key that was never written', async () => {
    expect(await connectBus().bucket(day).get('unheard of')).toBeUndefined();
  });

  it('STIM-36 frees a key when its time is over, and not before', async () => {
    const bucket = connectBus().bucket<string>({ name: 'test_short', ttlMs: 1_000 });
    await bucket.create('short', 'a', 'acme');
    const written = Date.now();
    await systemClock.sleep(700);
    expect(await bucket.create('short', 'b', 'acme')).toBeUndefined();
    await eventually(async () => (await bucket.create('short', 'b', 'acme')) !== undefined);
    expect(Date.now() - written).toBeGreaterThan(900);
    expect(Date.now() - written).toBeLessThan(3_000);
  });

  it('STIM-35 STIM-36 of idempotency keys keeps them for 24 hours on the server', async () => {
    await connectBus().bucket(buckets.idempotency).create('kept', 'a', 'acme');
    expect(await settings('KV_windlass_idempotency')).toMatchObject({ max_age: 24 * 3_600 * 1e9, discard: 'new' });
  });

  it('keeps its keys when the server is killed', async () => {
    const bus = connectBus();
    const bucket = bus.bucket<string>(day);
    const revision = await bucket.create('lasting', 'a', 'acme');
    await server.kill();
    await server.start();
    await isConnected(bus);
    expect(await bucket.get('lasting')).toEqual({ value: 'a', revision });
    expect(await bucket.create('lasting', 'b', 'acme')).toBeUndefined();
  });
});

describe('streams', () => {
  it('are made with the retention that is configured, and follow it when it changes', async () => {
    const bus = connectBus({ WINDLASS_EVENTS_MAX_AGE_HOURS: 1, WINDLASS_EVENTS_MAX_MB: 2 });
    await isConnected(bus);
    const hour = 3_600_000_000_000;
    expect(await settings('WINDLASS_EVENTS')).toMatchObject({ max_age: hour, max_bytes: 2_097_152, discard: 'old' });
    expect(await settings('WINDLASS_AUDIT')).toMatchObject({ max_age: 48 * hour, max_bytes: 67_108_864 });
    await bus.publish(anEvent({ tenant: 'kept' }));
    await isConnected(connectBus({ WINDLASS_EVENTS_MAX_AGE_HOURS: 3, WINDLASS_EVENTS_MAX_MB: 64 }));
    expect(await settings('WINDLASS_EVENTS')).toMatchObject({ max_age: 3 * hour, max_bytes: 67_108_864 });
    expect((await storedIn('WINDLASS_EVENTS')).map(({ event }) => event.tenant)).toContain('kept');
  });

  it('of conversations take as many bytes as are configured, whatever their definition says', async () => {
    const retention = { maxAgeMs: 3_600_000, maxBytes: 2 ** 40 };
    const stream = connectBus({ WINDLASS_CONVERSATIONS_MAX_MB: 3 }).stream({ name: 'conversations', retention });
    await stream.append({ tenant: 't', key: 'k', body: 'x' });
    const max = { max_age: 3_600_000_000_000, max_bytes: 3_145_728 };
    expect(await settings('WINDLASS_STREAM_conversations')).toMatchObject(max);
  });

  it('that the server has no room for are a warning, once a connection, for readers get no error', async () => {
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (...said: unknown[]) => void warned.push(said) };
    const stream = connectBus({}, logger).stream({
      name: 'far_too_large',
      retention: { maxAgeMs: 3_600_000, maxBytes: 2 ** 60 },
    });
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(stream.read({ tenant: 't', key: 'k', after: 0, bytes: busLimits.pageBytes })).rejects.toMatchObject({
        code: 'unavailable',
      });
    const problem = expect.stringContaining('insufficient') as string;
    expect(warned).toEqual([[{ stream: 'WINDLASS_STREAM_far_too_large', problem }, 'stream not made']]);
  });

  it('that ten processes make at the same time are made once', async () => {
    const fresh = await startNatsServer();
    try {
      const all = Array.from({ length: 10 }, () => connectBus({ WINDLASS_NATS_URL: fresh.url }));
      const results = await Promise.allSettled(all.map((bus) => bus.publish(anEvent())));
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect(await storedIn('WINDLASS_EVENTS', fresh)).toHaveLength(10);
    } finally {
      await fresh.stop();
    }
  });

  it('that an operator deleted under a connection are made again', async () => {
    const bus = connectBus();
    await bus.publish(anEvent());
    const connection = await connect({ servers: server.url });
    await (await jetstreamManager(connection)).streams.delete('WINDLASS_EVENTS');
    await connection.close();
    await expect(bus.publish(anEvent())).rejects.toMatchObject({ code: 'unavailable' });
    await eventually(() =>
      bus.publish(anEvent({ tenant: 'after' })).then(
        () => true,
        () => false,
      ),
    );
    expect((await storedIn('WINDLASS_EVENTS')).map(({ event }) => event.tenant)).toEqual(['after']);
  });

  it('that have settings of an older version are changed, and keep what they hold', async () => {
    const old = await startNatsServer();
    try {
      const connection = await connect({ servers: old.url });
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: 'WINDLASS_EVENTS', subjects: ['windlass.events.*.stimulus'], max_age: 1e15 });
      await connection.request('windlass.events.acme.stimulus', '{"tenant":"old"}');
      await connection.close();
      await connectBus({ WINDLASS_NATS_URL: old.url }).publish(anEvent({ topic: 'volume', tenant: 'new' }));
      expect((await storedIn('WINDLASS_EVENTS', old)).map(({ event }) => event.tenant)).toEqual(['old', 'new']);
      expect(await settings('WINDLASS_EVENTS', old)).toMatchObject({ max_age: 24 * 3_600_000_000_000 });
    } finally {
      await old.stop();
    }
  });

  it('that the server does not let us change are used as they are', async () => {
    const rights = 'permissions: { publish: { deny: ["$JS.API.STREAM.UPDATE.>", "$JS.API.STREAM.CREATE.>"] } }';
    const folder = await mkdtemp(join(tmpdir(), 'windlass-nats-conf-'));
    const config = join(folder, 'nats.conf');
    await writeFile(
      config,
      `authorization { users: [{ user: admin, password: a }, { user: windlass, password: w, ${rights} }] }`,
    );
    const strict = await startNatsServer({ args: ['--config', config] });
    try {
      const connection = await connect({ servers: strict.url, user: 'admin', pass: 'a' });
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: 'WINDLASS_EVENTS', subjects: ['windlass.events.>'], max_msgs: 10 });
      await manager.streams.add({ name: 'WINDLASS_AUDIT', subjects: ['windlass.audit.>'] });
      await manager.streams.add({
        name: 'KV_windlass_idempotency',
        subjects: ['$KV.windlass_idempotency.>'],
        max_msgs_per_subject: 1,
        allow_rollup_hdrs: true,
        deny_delete: true,
      });
      await connection.close();
      const login = { WINDLASS_NATS_USER: 'windlass', WINDLASS_NATS_PASSWORD: 'w' };
      const bus = connectBus({ WINDLASS_NATS_URL: strict.url, ...login });
      await isConnected(bus);
      expect(await bus.publish(anEvent()).then(() => 'stored')).toBe('stored');
      // Neither the accounts of keys nor marks that end sooner can be had there.
      const keys = bus.bucket<string>(buckets.idempotency);
      const revision = (await keys.create('k', 'a', 'acme')) ?? 0;
      await keys.delete('k', revision);
      expect(await keys.create('k', 'b', 'acme')).toBeGreaterThan(revision);
    } finally {
      await strict.stop();
      await rm(folder, { recursive: true });
    }
  });
});

describe('an outage', () => {
  const bucket = { name: 'test_day', ttlMs: 24 * 3_600_000 };
  const elapsed = async (call: Promise<unknown>): Promise<{ ms: number; error: unknown }> => {
    const start = Date.now();
    const error = await call.then(() => undefined).catch((reason: unknown) => reason);
    return { ms: Date.now() - start, error };
  };

  it('fails every call with `unavailable` within two seconds, and at once when it lasts', async () => {
    const bus = connectBus();
    await isConnected(bus);
    await server.kill();
    await eventually(() => bus.problem() !== undefined);
    const calls = () => [
      bus.publish(anEvent()),
      bus.bucket(bucket).get('a'),
      bus.bucket(bucket).create('a', 1, 'acme'),
      bus.bucket(bucket).update('a', 1, 1),
      bus.bucket(bucket).delete('a', 1),
    ];
    for (const { ms, error } of await Promise.all(calls().map(elapsed))) {
      expect(error).toMatchObject({ code: 'unavailable' });
      expect(error).toBeInstanceOf(AppError);
      expect(ms).toBeLessThan(2_000);
    }
    await systemClock.sleep(600);
    for (const { ms, error } of await Promise.all(calls().map(elapsed))) {
      expect(error).toMatchObject({ code: 'unavailable' });
      expect(ms).toBeLessThan(100);
    }
  });

  it('of a server that is frozen, and does not close its connections, fails calls within two seconds as well', async () => {
    const bus = connectBus();
    await isConnected(bus);
    await bus.bucket(bucket).create('before it froze', 1, 'acme');
    await server.freeze();
    try {
      const known = bus.bucket(bucket);
      const calls = [
        ...Array.from({ length: 2_000 }, (_, i) => known.create(`frozen ${i}`, 1, 'acme')),
        known.get('k'),
        known.update('k', 1, 1),
        known.delete('k', 1),
        bus.publish(anEvent()),
        bus.bucket({ ...bucket, name: 'new' }).get('k'),
      ];
      for (const { ms, error } of await Promise.all(calls.map(elapsed))) {
        expect(error).toMatchObject({ code: 'unavailable' });
        expect(ms).toBeLessThan(2_300);
      }
      await eventually(() => bus.problem() !== undefined);
    } finally {
      server.thaw();
    }
    await eventually(() =>
      bus.publish(anEvent()).then(
        () => true,
        () => false,
      ),
    );
  });

  it('at the start of a process blocks nothing; the bus comes when the server does', async () => {
    await server.kill();
    const start = Date.now();
    const bus = connectBus();
    expect(Date.now() - start).toBeLessThan(50);
    expect(bus.problem()).toBe('not connected yet');
    await eventually(() => bus.problem()?.includes('refused') === true);
    await server.start();
    await bus.publish(anEvent()).catch(() => isConnected(bus));
    expect(bus.problem()).toBeUndefined();
  });

  it('that is shorter than half a second is not noticed by a call', async () => {
    const bus = connectBus();
    await isConnected(bus);
    await server.kill();
    const published = bus.publish(anEvent({ tenant: 'patient' })).then(
      () => 'stored',
      () => 'failed',
    );
    await server.start();
    await isConnected(bus);
    // A call that was already under way when the connection broke cannot know, and fails.
    expect(['stored', 'failed']).toContain(await published);
    expect(await bus.publish(anEvent()).then(() => 'stored')).toBe('stored');
  });

  it('delays what is raised meanwhile, and delivers it in order', async () => {
    const bus = connectBus();
    await isConnected(bus);
    await server.kill();
    for (let i = 0; i < 50; i += 1) bus.raise(anEvent({ id: `raised-${i}`, tenant: 'raised', data: { i } }));
    await server.start();
    const raised = async (): Promise<unknown[]> =>
      (await storedIn('WINDLASS_EVENTS'))
        .filter(({ event }) => event.tenant === 'raised')
        .map(({ event }) => event.data);
    await eventually(async () => (await raised()).length === 50);
    expect(await raised()).toEqual(Array.from({ length: 50 }, (_, i) => ({ i })));
    expect(dropped).toEqual([]);
  });

  it('at the end of a process drops what is left after the grace, and says how much', async () => {
    const bus = connectBus();
    await isConnected(bus);
    await server.kill();
    bus.raise(anEvent());
    bus.raise(anEvent());
    const start = Date.now();
    await bus.close(300);
    expect(Date.now() - start).toBeLessThan(1_500);
    expect(dropped).toEqual(['stopped 2']);
    bus.raise(anEvent());
    expect(dropped).toEqual(['stopped 2', 'stopped 1']);
  });

  it('does not keep a process from ending before it has ever connected', async () => {
    await server.kill();
    const bus = connectBus();
    const start = Date.now();
    await bus.close(1_000);
    expect(Date.now() - start).toBeLessThan(2_000);
  });
});

describe('a server with a password', () => {
  const [user, password] = ['windlass', 'p@ss: "word"'];
  let guarded: NatsServer;
  beforeAll(async () => {
    guarded = await startNatsServer({ args: ['--user', user, '--pass', password] });
  });
  afterAll(() => guarded.stop());

  it('lets in who knows it', async () => {
    const credentials = { WINDLASS_NATS_USER: user, WINDLASS_NATS_PASSWORD: password };
    const bus = connectBus({ WINDLASS_NATS_URL: guarded.url, ...credentials });
    expect(await bus.publish(anEvent()).then(() => 'stored')).toBe('stored');
  });

  it('keeps out others, who keep trying and never show the password', async () => {
    const credentials = { WINDLASS_NATS_USER: user, WINDLASS_NATS_PASSWORD: 'guessed' };
    const bus = connectBus({ WINDLASS_NATS_URL: guarded.url, ...credentials });
    await eventually(() => /authorization/i.test(bus.problem() ?? ''));
    const error: unknown = await bus.publish(anEvent()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String(error)).not.toContain('guessed');
  });
});

describe('a server that speaks TLS', () => {
  let folder: string;
  let files: { readonly cert: string; readonly key: string };
  let encrypted: NatsServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'windlass-nats-tls-'));
    files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    const { cert, key } = await makeCertificate();
    await writeFile(files.cert, cert);
    await writeFile(files.key, key);
    // Its clients have to show a certificate that it trusts, too.
    const own = ['--tls', '--tlscert', files.cert, '--tlskey', files.key];
    encrypted = await startNatsServer({ args: [...own, '--tlsverify', '--tlscacert', files.cert] });
  });
  afterAll(async () => {
    await encrypted.stop();
    await rm(folder, { recursive: true });
  });

  it('is reached with its authority and a certificate of our own', async () => {
    const bus = connectBus({
      // The library checks names only.
      WINDLASS_NATS_URL: encrypted.url.replace('nats://127.0.0.1', 'tls://localhost'),
      WINDLASS_NATS_CA_FILE: files.cert,
      WINDLASS_NATS_CERT_FILE: files.cert,
      WINDLASS_NATS_KEY_FILE: files.key,
    });
    expect(await bus.publish(anEvent()).then(() => 'stored')).toBe('stored');
  });

  it.each<[string, Partial<BusConfig>, RegExp]>([
    ['an unknown authority', { WINDLASS_NATS_URL: 'tls' }, /self-signed|unable to verify/],
    ['an authority in a file that is missing', { WINDLASS_NATS_CA_FILE: '/nowhere/ca.pem' }, /doesn't exist/],
  ])('is not trusted with %s', async (_what, config, problem) => {
    const bus = connectBus({ ...config, WINDLASS_NATS_URL: encrypted.url.replace('nats://', 'tls://') });
    await eventually(() => problem.test(bus.problem() ?? ''));
    await expect(bus.publish(anEvent())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is asked for where the URL says tls: a server without it is not used', async () => {
    const bus = connectBus({ WINDLASS_NATS_URL: server.url.replace('nats://', 'tls://') });
    await eventually(() => /tls/.test(bus.problem() ?? ''));
    await expect(bus.publish(anEvent())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a server with accounts', () => {
  it('accepts a credentials file, read at each connect, also after the file is exchanged', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'windlass-nats-creds-'));
    const [config, credentials] = [join(folder, 'nats.conf'), join(folder, 'nats.creds')];
    const operator = makeOperator();
    await writeFile(config, operator.config);
    await writeFile(credentials, makeOperator().credentials);
    const strict = await startNatsServer({ args: ['--config', config] });
    try {
      const bus = connectBus({ WINDLASS_NATS_URL: strict.url, WINDLASS_NATS_CREDENTIALS_FILE: credentials });
      await eventually(() => /authorization/i.test(bus.problem() ?? ''));
      await writeFile(credentials, operator.credentials);
      await isConnected(bus);
      expect(await bus.publish(anEvent()).then(() => 'stored')).toBe('stored');
    } finally {
      await strict.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('is not reached with a credentials file that is missing, or none', async () => {
    const missing = connectBus({ WINDLASS_NATS_CREDENTIALS_FILE: '/nowhere/nats.creds' });
    await eventually(() => missing.problem() !== 'not connected yet');
    await expect(missing.publish(anEvent())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

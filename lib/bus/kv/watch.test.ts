import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { systemClock } from '../../clock.ts';
import { bucketKey, type KeyValueChange } from '../index.ts';

/** Watching a bucket of the real server. */
let nats: TestBus;
const watches: AbortController[] = [];

beforeAll(async () => {
  nats = await startTestBus();
}, 300_000);
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.abort();
  await nats.server.start();
});
afterAll(() => nats.stop());

interface Host {
  readonly host: string;
  readonly relay: string;
}

function watched(name: string, ttlMs = 3_600_000) {
  const definition = { name, ttlMs, isWatched: true };
  const seen: string[] = [];
  const watch = new AbortController();
  watches.push(watch);
  const run = async (): Promise<void> => {
    for await (const change of nats.connect().watch<Host>(definition, watch.signal)) seen.push(describeChange(change));
    seen.push('over');
  };
  const done = run();
  return { definition, seen, watch, done };
}

const describeChange = (change: KeyValueChange<Host>): string => {
  switch (change.kind) {
    case 'put':
      return `put ${change.value.host} ${change.value.relay} ${change.name === bucketKey(change.value.host)}`;
    case 'end':
      return `end ${change.name.slice(0, 8)}`;
    default:
      return change.kind;
  }
};

async function eventually(done: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${String(done)}`);
    await systemClock.sleep(10);
  }
}

const ended = (host: string): string => `end ${bucketKey(host).slice(0, 8)}`;

describe('a watch', () => {
  it('of an empty bucket says at once that nothing is there, then tells what comes', async () => {
    const { definition, seen } = watched('watch_empty');
    await eventually(() => seen.length === 2);
    expect(seen).toEqual(['begin', 'current']);
    const bucket = nats.connect().bucket<Host>(definition);
    const revision = (await bucket.create('h1', { host: 'h1', relay: 'a' }, 'acme')) ?? 0;
    const next = (await bucket.update('h1', { host: 'h1', relay: 'b' }, revision)) ?? 0;
    await bucket.delete('h1', next);
    await eventually(() => seen.length === 5);
    expect(seen.slice(2)).toEqual(['put h1 a true', 'put h1 b true', ended('h1')]);
  });

  it('begins with every entry there is, and says when it has named them all', async () => {
    const bucket = nats.connect().bucket<Host>({ name: 'watch_full', ttlMs: 3_600_000, isWatched: true });
    for (const host of ['a', 'b', 'c']) await bucket.create(host, { host, relay: 'x' }, 'acme');
    const { seen } = watched('watch_full');
    await eventually(() => seen.includes('current'));
    expect(seen).toEqual(['begin', 'put a x true', 'put b x true', 'put c x true', 'current']);
  });

  it('tells that a key ended by its time, and that key can be taken again', async () => {
    const { definition, seen } = watched('watch_ttl', 1_000);
    await eventually(() => seen.includes('current'));
    const bucket = nats.connect().bucket<Host>(definition);
    await bucket.create('h', { host: 'h', relay: 'a' }, 'acme');
    expect(await bucket.create('h', { host: 'h', relay: 'b' }, 'acme')).toBeUndefined();
    await eventually(() => seen.includes(ended('h')));
    expect(await bucket.get('h')).toBeUndefined();
    expect(await bucket.create('h', { host: 'h', relay: 'b' }, 'acme')).toBeGreaterThan(0);
    await eventually(() => seen.includes('put h b true'));
  });

  it('begins anew when the server was killed, with what is there then', async () => {
    const { definition, seen } = watched('watch_killed');
    const bus = nats.connect();
    await bus.bucket<Host>(definition).create('h', { host: 'h', relay: 'a' }, 'acme');
    await eventually(() => seen.includes('put h a true'));
    await nats.server.kill();
    // Before there is another connection, which serves requests earlier than watches.
    await eventually(() => seen.includes('lost'));
    seen.length = 0;
    await nats.server.start();
    await eventually(() => seen.includes('current'));
    expect(seen.filter((kind) => kind !== 'lost')).toEqual(['begin', 'put h a true', 'current']);
    await eventually(() => bus.problem() === undefined);
    await bus.bucket<Host>(definition).create('i', { host: 'i', relay: 'a' }, 'acme');
    await eventually(() => seen.includes('put i a true'));
  });

  it('ends with its signal', async () => {
    const { seen, watch, done } = watched('watch_over');
    await eventually(() => seen.includes('current'));
    watch.abort();
    await done;
    expect(seen.at(-1)).toBe('over');
  });

  it('ends with its bus', async () => {
    const bus = nats.connect();
    const seen: string[] = [];
    const run = async (): Promise<void> => {
      const definition = { name: 'watch_closed', ttlMs: 60_000 };
      for await (const { kind } of bus.watch(definition, new AbortController().signal)) seen.push(kind);
    };
    const done = run();
    await eventually(() => seen.includes('current'));
    await bus.close(0);
    await done;
    expect(seen).toEqual(['begin', 'current', 'lost']);
  });
});

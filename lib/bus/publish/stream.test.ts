import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { systemClock } from '../../clock.ts';
import { busLimits } from '../index.ts';

/** A stream of our own on the real server, used as the log of a conversation. */
let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
}, 300_000);
afterAll(() => nats.stop());

const definition = { name: 'conversations', retention: { maxAgeMs: 3_600_000, maxBytes: 64 * 1_048_576 } };
const [acme, text] = ['acme', (body: Uint8Array): string => Buffer.from(body).toString()];

describe('a log', () => {
  it('takes one of many writers who have seen the same last message', async () => {
    const [one, two] = [nats.connect().stream(definition), nats.connect().stream(definition)];
    const first = await one.append({ tenant: acme, key: 'guarded', body: '0', after: 0 });
    const calls = Array.from({ length: 50 }, (_, i) =>
      (i % 2 === 0 ? one : two).append({ tenant: acme, key: 'guarded', body: `w${i}`, after: first }),
    );
    const won = (await Promise.all(calls)).filter((sequence) => sequence !== undefined);
    expect(won).toHaveLength(1);
    expect(await one.append({ tenant: acme, key: 'guarded', body: 'late', after: first })).toBeUndefined();
    expect(await two.append({ tenant: acme, key: 'guarded', body: 'next', after: won[0] })).toBeGreaterThan(
      won[0] ?? 0,
    );
    expect((await one.read({ tenant: acme, key: 'guarded', after: 0, bytes: busLimits.pageBytes })).length).toBe(3);
  });

  it('knows a guarded message again whose answer was lost, and no other one', async () => {
    const [one, two] = [nats.connect().stream(definition), nats.connect().stream(definition)];
    const first = await one.append({ tenant: acme, key: 'repeated', body: '0', after: 0, id: 'a' });
    const mine = { tenant: acme, key: 'repeated', body: '1', after: first ?? 0, id: 'b' };
    const stored = await one.append(mine);
    expect(stored).toBeGreaterThan(first ?? 0);
    expect([await one.append(mine), await two.append(mine)]).toEqual([stored, stored]);
    expect(await two.append({ ...mine, body: '2', id: 'c' })).toBeUndefined();
    const next = await two.append({ ...mine, body: '2', id: 'c', after: stored ?? 0 });
    expect([next, await one.append(mine)]).toEqual([(stored ?? 0) + 1, stored]);
    const log = await one.read({ tenant: acme, key: 'repeated', after: 0, bytes: busLimits.pageBytes });
    expect(log.map(({ body }) => text(body))).toEqual(['0', '1', '2']);
  });

  it('is read in order and without a gap where its key is alone, and where others come in between', async () => {
    const stream = nats.connect().stream(definition);
    const wanted: string[] = [];
    const append = async (key: string, body: string): Promise<void> => {
      await stream.append({ tenant: acme, key, body });
      if (key === 'mixed') wanted.push(body);
    };
    for (let index = 0; index < 100; index += 1) await append('mixed', `alone ${index}`);
    for (let index = 0; index < 60; index += 1) await append(index % 3 === 0 ? 'mixed' : 'between', `among ${index}`);
    for (let index = 0; index < 200; index += 1) await append('mixed', `again ${index}`);
    const found: string[] = [];
    for (let after = 0; ; ) {
      const page = await stream.read({ tenant: acme, key: 'mixed', after, bytes: busLimits.pageBytes });
      expect(page.length).toBeLessThanOrEqual(busLimits.pageMessages);
      found.push(...page.map(({ body }) => text(body)));
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.sequence;
    }
    expect(found).toEqual(wanted);
  });

  it('is not held up by messages under other keys', async () => {
    const log = nats.connect().stream(definition);
    const first = await log.append({ tenant: acme, key: 'mine', body: '1', after: 0 });
    await log.append({ tenant: acme, key: 'other', body: 'x' });
    await log.append({ tenant: 'other', key: 'mine', body: 'x' });
    expect(await log.append({ tenant: acme, key: 'mine', body: '2', after: first })).toBeGreaterThan(0);
    const got = await log.read({ tenant: acme, key: 'mine', after: 0, bytes: busLimits.pageBytes });
    expect(got.map(({ body }) => text(body))).toEqual(['1', '2']);
    expect(
      (await log.read({ tenant: acme, key: 'mine', after: first ?? 0, bytes: busLimits.pageBytes })).map(({ body }) =>
        text(body),
      ),
    ).toEqual(['2']);
  });

  it('costs no timer of its own once it is there', async () => {
    const waits: number[] = [];
    const clock = {
      ...systemClock,
      sleep(ms: number, signal?: AbortSignal) {
        waits.push(ms);
        return systemClock.sleep(ms, signal);
      },
    };
    const log = nats.connect({}, { clock }).stream(definition);
    await log.append({ tenant: acme, key: 'timers', body: '0' });
    waits.length = 0;
    for (let index = 1; index < 20; index += 1) await log.append({ tenant: acme, key: 'timers', body: String(index) });
    // One watches over all answers of the server, which have 1.5 s; a call has 2 s.
    expect(waits.filter((ms) => ms > 1_500)).toEqual([]);
    expect(await log.read({ tenant: acme, key: 'timers', after: 0, bytes: busLimits.pageBytes })).toHaveLength(20);
  });

  it('stores a message of one id once', async () => {
    const log = nats.connect().stream(definition);
    await Promise.all([1, 2, 3].map(() => log.append({ tenant: acme, key: 'once', body: 'x', id: 'a\r\nb' })));
    expect(await log.read({ tenant: acme, key: 'once', after: 0, bytes: busLimits.pageBytes })).toHaveLength(1);
  });

  it.each([busLimits.pageMessages - 1, busLimits.pageMessages, busLimits.pageMessages + 1])(
    'of %d messages is read in pages',
    async (count) => {
      const [log, key] = [nats.connect().stream(definition), `pages-${count}`];
      await Promise.all(Array.from({ length: count }, (_, i) => log.append({ tenant: acme, key, body: String(i) })));
      const page = await log.read({ tenant: acme, key, after: 0, bytes: busLimits.pageBytes });
      expect(page).toHaveLength(Math.min(count, busLimits.pageMessages));
      const rest = await log.read({ tenant: acme, key, after: page.at(-1)?.sequence ?? 0, bytes: busLimits.pageBytes });
      expect(page.length + rest.length).toBe(count);
    },
  );

  it('is read in pages of as many bytes as its reader keeps', async () => {
    const [log, key] = [nats.connect().stream(definition), 'small-pages'];
    for (let index = 0; index < 8; index += 1) await log.append({ tenant: acme, key, body: new Uint8Array(1_000) });
    const page = await log.read({ tenant: acme, key, after: 0, bytes: 3_500 });
    expect(page).toHaveLength(3);
    const rest = await log.read({ tenant: acme, key, after: page.at(-1)?.sequence ?? 0, bytes: 999 });
    expect(rest).toHaveLength(1);
  });

  it('refuses a message that is larger than the server takes, and a key that is none', async () => {
    const log = nats.connect().stream(definition);
    const large = log.append({ tenant: acme, key: 'large', body: new Uint8Array(1_048_577) });
    await expect(large).rejects.toMatchObject({ code: 'limit_exceeded' });
    await expect(log.append({ tenant: acme, key: 'x'.repeat(513), body: '' })).rejects.toMatchObject({
      code: 'invalid',
    });
    expect(await log.append({ tenant: acme, key: 'x'.repeat(512), body: '' })).toBeGreaterThan(0);
  });
});

describe('a record', () => {
  const record = { ...definition, name: 'record', isRecord: true };

  it('gives the newest message of a key, the messages of a tenant or of all, and the oldest', async () => {
    const log = nats.connect().stream(record);
    expect(await log.oldest()).toBeUndefined();
    expect(await log.last({ tenant: acme, key: 'l0' })).toBeUndefined();
    for (const [tenant, key, body] of [
      [acme, 'l0', '1'],
      ['other', 'l0', '2'],
      [acme, 'l1', '3'],
      [acme, 'l0', '4'],
    ] as const)
      await log.append({ tenant, key, body });
    const bodies = async (tenant: string | undefined, after = 0) =>
      (await log.scan({ tenant, after, bytes: busLimits.pageBytes })).map(
        (message) => `${message.tenant} ${message.key} ${text(message.body)}`,
      );
    expect(await bodies(undefined)).toEqual(['acme l0 1', 'other l0 2', 'acme l1 3', 'acme l0 4']);
    expect(await bodies(acme)).toEqual(['acme l0 1', 'acme l1 3', 'acme l0 4']);
    expect(await bodies(acme, 1)).toEqual(['acme l1 3', 'acme l0 4']);
    expect(text((await log.last({ tenant: acme, key: 'l0' }))?.body ?? new Uint8Array())).toBe('4');
    expect((await log.oldest())?.sequence).toBe(1);
  });

  it('finds the place from which messages are of a time or later', async () => {
    const log = nats.connect().stream({ ...record, name: 'times' });
    expect(await log.before(0)).toBe(0);
    const times: number[] = [];
    for (let index = 0; index < 9; index += 1) {
      await log.append({ tenant: acme, key: 'k', body: String(index) });
      times.push(Date.parse((await log.last({ tenant: acme, key: 'k' }))?.time ?? ''));
      await systemClock.sleep(5);
    }
    for (const [index, time] of times.entries()) {
      expect(await log.before(time)).toBe(index);
      expect(await log.before(time + 2)).toBe(index + 1);
    }
    expect(await log.before(0)).toBe(0);
  });

  it('cannot be made to forget, and gives each subject a share', async () => {
    const log = nats
      .connect()
      .stream({ ...record, name: 'kept', retention: { maxAgeMs: 3_600_000, maxBytes: 65_536 } });
    await log.append({ tenant: acme, key: 'k', body: 'x' });
    const connection = await connect({ servers: nats.server.url });
    const { streams } = await jetstreamManager(connection);
    const name = 'WINDLASS_STREAM_kept';
    await expect(streams.deleteMessage(name, 1)).rejects.toThrow(/delete|permitted|denied/);
    await expect(streams.purge(name)).rejects.toThrow(/purge|permitted|denied/);
    const { config } = await streams.info(name);
    await connection.close();
    expect(config.max_msgs_per_subject).toBeGreaterThan(0);
  });
});

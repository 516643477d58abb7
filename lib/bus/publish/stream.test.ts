import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
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
    expect((await one.read({ tenant: acme, key: 'guarded', after: 0 })).length).toBe(3);
  });

  it('is not held up by messages under other keys', async () => {
    const log = nats.connect().stream(definition);
    const first = await log.append({ tenant: acme, key: 'mine', body: '1', after: 0 });
    await log.append({ tenant: acme, key: 'other', body: 'x' });
    await log.append({ tenant: 'other', key: 'mine', body: 'x' });
    expect(await log.append({ tenant: acme, key: 'mine', body: '2', after: first })).toBeGreaterThan(0);
    const got = await log.read({ tenant: acme, key: 'mine', after: 0 });
    expect(got.map(({ body }) => text(body))).toEqual(['1', '2']);
    expect((await log.read({ tenant: acme, key: 'mine', after: first ?? 0 })).map(({ body }) => text(body))).toEqual([
      '2',
    ]);
  });

  it('stores a message of one id once', async () => {
    const log = nats.connect().stream(definition);
    await Promise.all([1, 2, 3].map(() => log.append({ tenant: acme, key: 'once', body: 'x', id: 'a\r\nb' })));
    expect(await log.read({ tenant: acme, key: 'once', after: 0 })).toHaveLength(1);
  });

  it.each([busLimits.pageMessages - 1, busLimits.pageMessages, busLimits.pageMessages + 1])(
    'of %d messages is read in pages',
    async (count) => {
      const [log, key] = [nats.connect().stream(definition), `pages-${count}`];
      await Promise.all(Array.from({ length: count }, (_, i) => log.append({ tenant: acme, key, body: String(i) })));
      const page = await log.read({ tenant: acme, key, after: 0 });
      expect(page).toHaveLength(Math.min(count, busLimits.pageMessages));
      const rest = await log.read({ tenant: acme, key, after: page.at(-1)?.sequence ?? 0 });
      expect(page.length + rest.length).toBe(count);
    },
  );

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

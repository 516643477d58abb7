import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createAbsentBus } from './absent-bus.ts';
import { busLimits } from './limits.ts';

describe('a process without an event bus', () => {
  const bus = createAbsentBus(systemClock);
  const definition = { name: 'conversations', retention: { maxAgeMs: 1_000, maxBytes: 1_000 } };
  const address = { service: 'relay.host', key: 'h' };
  const signal = new AbortController().signal;
  const failed = (call: () => unknown): Promise<unknown> =>
    Promise.resolve()
      .then(call)
      .then(
        () => undefined,
        (error: unknown) => error,
      );

  it.each<[string, () => unknown]>([
    ['appending to a stream', () => bus.stream(definition).append({ tenant: 't', key: 'k', body: '' })],
    [
      'reading a stream',
      () => bus.stream(definition).read({ tenant: 't', key: 'k', after: 0, bytes: busLimits.pageBytes }),
    ],
    ['a subscription', () => bus.subscribe({ name: 'a', source: 'events', concurrency: 1 }, async () => undefined)],
    ['a request', () => bus.request(address, '', { timeoutMs: 1 })],
    ['a request to all', () => bus.requestAll(address, '', { timeoutMs: 1 })],
    ['serving an address', () => bus.serve(address, async () => '')],
    ['watching a bucket', () => bus.watch({ name: 'b', ttlMs: 1_000 }, signal)],
    ['an object', () => bus.objects({ name: 'o', ttlMs: 1_000 }).get('x', 1)],
  ])('says of %s which variable to set', async (_what, call) => {
    const error = await failed(call);
    expect(error).toMatchObject({ code: 'unavailable', reason: 'EventBusNotConfigured' });
    expect(String(error)).toContain('WINDLASS_NATS_URL');
  });

  it('keeps buckets in its own memory, as it is the only replica', async () => {
    const bucket = bus.bucket<string>({ name: 'b', ttlMs: 60_000 });
    const revision = (await bucket.create('k', 'v', 'acme')) ?? 0;
    expect(await bucket.create('k', 'w', 'acme')).toBeUndefined();
    expect(await bucket.update('k', 'w', revision)).toBeGreaterThan(revision);
  });
});

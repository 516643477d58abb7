import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { BucketDefinition } from './kv/bucket-definition.ts';
import type { EventBus, KeyValueBucket } from './event-bus.ts';
import { createMemoryBucket } from './kv/memory-bucket.ts';

/** The error of an absent bus. */
export const notConfiguredProblem = 'no event bus is configured';

/**
 * The bus where none is configured. Events are dropped. Buckets are in the memory of this process, which is the only
 * one of its kind (requirements AMB-182). Everything that is stored for others, or passes from process to process, is
 * refused with the variable to set.
 */
export function createAbsentBus(clock: Clock): EventBus {
  const known = new Map<string, KeyValueBucket<unknown>>();
  return {
    publish: refuse,
    raise: () => undefined,
    bucket<T>(definition: BucketDefinition): KeyValueBucket<T> {
      const bucket = known.get(definition.name) ?? createMemoryBucket<unknown>(clock, definition);
      known.set(definition.name, bucket);
      // The caller who asks for a bucket says what it holds, as with one on a server.
      return bucket as KeyValueBucket<T>;
    },
    objects: () => ({ put: refuse, get: refuse, page: refuse, trim: refuse }),
    objectBytes: refuse,
    stream: () => ({
      append: refuse,
      note: () => undefined,
      read: refuse,
      last: refuse,
      peek: refuse,
      scan: refuse,
      oldest: refuse,
      bounds: refuse,
      before: refuse,
    }),
    logs: () => ({ append: refuse, read: refuse, peek: refuse, bounds: refuse }),
    request: refuse,
    requestAll: refuse,
    tell: () => undefined,
    subscribe: () => fail('subscriptions'),
    serve: () => fail('requests between processes'),
    watch: () => fail('watching buckets'),
    identity: refuse,
    problem: () => notConfiguredProblem,
    close: async () => undefined,
  };
}

async function refuse(): Promise<never> {
  throw notConfigured('no event bus is configured: set WINDLASS_NATS_URL');
}

/** At once, so that a process that cannot do its work without a bus ends at its start and says why. */
function fail(what: string): never {
  throw notConfigured(`${what} need NATS, and no event bus is configured: set WINDLASS_NATS_URL`);
}

const notConfigured = (message: string): AppError =>
  new AppError('unavailable', message, { reason: 'EventBusNotConfigured' });

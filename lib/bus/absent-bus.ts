import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { BucketDefinition, EventBus, KeyValueBucket } from './event-bus.ts';
import { createMemoryBucket } from './kv/memory-bucket.ts';

/**
 * Stands where no bus is configured: what is raised goes nowhere, what is to be stored is refused, and buckets are in the
 * memory of this process, which is the only one of its kind (requirements AMB-182).
 */
export function createAbsentBus(clock: Clock): EventBus {
  const known = new Map<string, KeyValueBucket<unknown>>();
  return {
    publish: refuse,
    raise: () => undefined,
    bucket<T>(definition: BucketDefinition): KeyValueBucket<T> {
      const bucket = known.get(definition.name) ?? createMemoryBucket<unknown>(clock, definition);
      known.set(definition.name, bucket);
      // Whoever asks for a bucket says what it holds, as with one on a server.
      return bucket as KeyValueBucket<T>;
    },
    objects: () => ({ put: refuse, get: refuse, page: refuse, trim: refuse }),
    objectBytes: refuse,
    problem: () => 'no event bus is configured',
    close: async () => undefined,
  };
}

async function refuse(): Promise<never> {
  throw new AppError('unavailable', 'no event bus is configured: set WINDLASS_NATS_URL', {
    reason: 'EventBusNotConfigured',
  });
}

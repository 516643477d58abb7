import { limits } from '../../../crds/limits.ts';
import type { BucketDefinition } from './bucket-definition.ts';

/** The buckets of Windlass. */
export const buckets = {
  /** spec 1 §8: the stimulus of a source's idempotency key. */
  idempotency: {
    name: 'idempotency',
    ttlMs: limits.idempotencySeconds * 1_000,
    holds: 'idempotency keys',
    instead: 'send without one',
  },
} as const satisfies Readonly<Record<string, BucketDefinition>>;

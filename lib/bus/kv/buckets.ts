import { limits } from '../../../crds/limits.ts';
import type { BucketDefinition } from './bucket-definition.ts';

/** The buckets of Windlass. */
export const buckets = {
  /** spec 1 §8: which stimulus a source's idempotency key stands for. */
  idempotency: { name: 'idempotency', ttlMs: limits.idempotencySeconds * 1_000 },
} as const satisfies Readonly<Record<string, BucketDefinition>>;

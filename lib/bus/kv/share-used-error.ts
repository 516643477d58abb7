import { AppError } from '../../errors.ts';
import { type BucketDefinition, heldIn, insteadOf } from './bucket-definition.ts';

/** The part of a bucket that a tenant has. */
interface UsedShare {
  /** Its keys. They are counted in blocks. */
  readonly used: number;
  readonly retryAfterMs: number;
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** The setting that bounds the bucket; absent: none does. */
  readonly setting?: string;
}

/** One tenant has as many keys in a bucket as it may have beside the others. */
export class ShareUsedError extends AppError {
  override readonly name = 'ShareUsedError';
  /** When the first of its keys ends. */
  readonly retryAfterMs: number;

  constructor(definition: BucketDefinition, { used, retryAfterMs, now, setting }: UsedShare) {
    const bound = setting === undefined ? '' : ` (${setting})`;
    const first = new Date(now + retryAfterMs).toISOString();
    super(
      'limit_exceeded',
      `this tenant has its share of all ${heldIn(definition)}${bound}: ${used}; ${insteadOf(definition)}wait until the first ends at ${first}`,
      { reason: 'KeyShareUsed' },
    );
    this.retryAfterMs = retryAfterMs;
  }
}

import type { BucketDefinition } from './bucket-definition.ts';

/**
 * An event of a bucket. `begin`: all that was known counts no more; every entry follows. `current`: all entries there
 * are have been named. `lost`: the connection ended; what was named may be old by now, until the next `current`. `put` and `end` name a key by `bucketKey` of its text, which cannot be turned back: a value that
 * watchers look at names what it is about.
 */
export type KeyValueChange<T> =
  | { readonly kind: 'begin' }
  | { readonly kind: 'put'; readonly name: string; readonly value: T; readonly revision: number }
  | {
      readonly kind: 'end';
      readonly name: string;
      readonly revision: number;
      /** Its time is over; false: a client freed the key. */
      readonly isExpired: boolean;
    }
  | { readonly kind: 'current' }
  | { readonly kind: 'lost' };

/** Watches buckets. */
export interface KeyValueWatcher {
  /**
   * Every entry of a bucket, then every change, until the signal aborts. After a lost connection it begins anew. Changes
   * of one key that follow each other quickly may be reported as one. Expired entries are reported as `end` where the
   * definition says `isWatched`.
   * @throws AppError `unavailable` where no event bus is configured: watching needs NATS.
   */
  watch<T>(definition: BucketDefinition, signal: AbortSignal): AsyncIterable<KeyValueChange<T>>;
}

/** A bucket and how long its entries live, counted from their last write. */
export interface BucketDefinition {
  readonly name: string;
  readonly ttlMs: number;
  /** Whether watchers see the end of expired keys. Needs a server of version 2.11 or later. */
  readonly isWatched?: boolean;
  /** Whether an entry counts as one key for each 300 bytes of its value, which bounds the bytes of a bucket as well. */
  readonly isWeighed?: boolean;
  /** Texts of refusals: the entries, in the plural. Default: idempotency keys. */
  readonly holds?: string;
}

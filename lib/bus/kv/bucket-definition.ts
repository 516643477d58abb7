/** A bucket and how long its entries live, counted from their last write. */
export interface BucketDefinition {
  readonly name: string;
  readonly ttlMs: number;
  /** Whether watchers see the end of expired keys. Needs a server of version 2.11 or later. */
  readonly isWatched?: boolean;
}

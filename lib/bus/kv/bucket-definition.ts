/** A bucket and how long its entries live, counted from their last write. */
export interface BucketDefinition {
  readonly name: string;
  readonly ttlMs: number;
  /** Whether watchers are told of keys whose time is over. Needs a server of version 2.11 or later. */
  readonly isWatched?: boolean;
}

/** A bucket of objects, how long each lives, counted from its write, and what it is called on the server. */
export interface ObjectBucketDefinition {
  readonly name: string;
  readonly ttlMs: number;
}

/** An object on its way to a bucket. */
interface StoredObject {
  readonly name: string;
  /** Also leads to the object, until a later one has the same alias. */
  readonly alias: string;
  /** Listed with the object: a text of a few KiB. */
  readonly row: string;
  readonly body: Uint8Array;
}

export interface ObjectPage {
  /** The newest first; there may be fewer than asked for, though others follow. */
  readonly rows: readonly string[];
  /** Undefined after the last one. */
  readonly next: number | undefined;
}

/**
 * Objects of any size under a name, in the order in which they were written. Calls throw AppError `unavailable` where the
 * bus cannot be reached; a bucket without any write is empty.
 */
export interface ObjectBucket {
  /** Replaces an object of the same name. */
  put(object: StoredObject): Promise<void>;
  /** By name, else by alias. @throws AppError `limit_exceeded` where it has more than `bytesMax` bytes. */
  get(nameOrAlias: string, bytesMax: number): Promise<Uint8Array | undefined>;
  /** Rows written before `before`, which is `next` of the page before. */
  page(query: { readonly before: number | undefined; readonly limit: number }): Promise<ObjectPage>;
  /** Deletes the oldest objects until the rest takes no more than `bytes`; gives the bytes that are left. */
  trim(bytes: number): Promise<number>;
}

/** Buckets of objects. */
export interface ObjectBuckets {
  objects(definition: ObjectBucketDefinition): ObjectBucket;
  /** Bytes of each bucket whose name begins with a text, by the rest of its name. */
  objectBytes(prefix: string): Promise<ReadonlyMap<string, number>>;
}

import type { KeyRoom } from './kv/key-room.ts';
import type { BucketDefinition } from './kv/bucket-definition.ts';
import type { KeyValueWatcher } from './kv/key-value-watcher.ts';
import type { ObjectBuckets } from './objects/object-bucket.ts';
import type { MessageStreams } from './publish/message-stream.ts';
import type { Requester } from './request/requester.ts';
import type { Subscriber } from './subscribe/subscription.ts';

/** A CloudEvent (version 1.0) before the bus adds what is the same for all. */
export interface BusEvent {
  /**
   * Unique; the bus drops a second one with the same id within its window. Derive it from the fact where that may be
   * published twice.
   */
  readonly id: string;
  /** Topic, the last part of the stream's subject: `stimulus`, `volume`, `workflow`, or `audit`, which has a stream of its own. */
  readonly topic: string;
  /** Which process raised it: `api`, `controllers` … */
  readonly source: string;
  /** PascalCase name of the specification, such as `StimulusReceived`. */
  readonly type: string;
  /** Its subject, such as an execution's id. */
  readonly subject: string;
  readonly tenant: string;
  /** RFC 3339. */
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Publishes domain and audit events. Resolves once the event is stored; within two seconds it throws AppError
 * `unavailable` where the bus cannot be reached, which leaves open whether the event was stored. An event that is too
 * large is refused with `limit_exceeded`.
 */
export interface EventPublisher {
  publish(event: BusEvent): Promise<void>;
}

/**
 * Takes events that are raised beside other work: returns at once and never throws. They are stored in the order in
 * which they were raised, later if the bus is away; what is more than a bounded queue holds is dropped and counted.
 */
export interface EventSink {
  raise(event: BusEvent): void;
}

/** A stored value with the revision that guards its next change. */
export interface KeyValueEntry<T> {
  readonly value: T;
  readonly revision: number;
}

/**
 * A bucket of JSON values whose entries end after the bucket's time to live. Any string is a key. Every replica sees
 * the same bucket. All calls throw AppError `unavailable` within two seconds when the bus cannot be reached. That
 * leaves open whether a write was made: its value must let a caller who tries again know it for its own.
 */
export interface KeyValueBucket<T> {
  get(key: string): Promise<KeyValueEntry<T> | undefined>;
  /**
   * The new revision, or undefined when the key is taken: exactly one of several callers gets a revision. The key
   * counts against the share of `tenant`. Throws ShareUsedError where the tenant has its share of the bucket already.
   */
  create(key: string, value: T, tenant: string): Promise<number | undefined>;
  /**
   * The new revision, or undefined when another client wrote in between. With `tenant` the value counts against its share
   * as one of a new key does, where the bucket weighs its entries.
   */
  update(key: string, value: T, revision: number, tenant?: string): Promise<number | undefined>;
  /**
   * Writes the value as `update` does, and waits for nothing: a write that is lost with the connection, or comes after another
   * client's, is lost.
   */
  note(key: string, value: T, revision: number): void;
  /** Whether `tenant` could create so many keys now, by its share. It takes none. */
  roomFor(tenant: string, keys: number): Promise<KeyRoom>;
  /** Frees the key, if it is still at that revision. */
  delete(key: string, revision: number): Promise<void>;
}

/** Everything that a process exchanges with others through the bus. */
export interface EventBus
  extends EventPublisher,
    EventSink,
    ObjectBuckets,
    MessageStreams,
    Subscriber,
    Requester,
    KeyValueWatcher {
  bucket<T>(definition: BucketDefinition): KeyValueBucket<T>;
  /** The same for all processes that share the store of one server or cluster, and for no others. */
  identity(): Promise<string>;
  /** Undefined while calls can succeed, else why they cannot, in one phrase. */
  problem(): string | undefined;
  /** Ends subscriptions and responders, stores what was raised, and ends the connection; gives up after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

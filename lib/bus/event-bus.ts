/** A CloudEvent (version 1.0) before the bus adds what is the same for all. */
export interface BusEvent {
  /** Unique; the bus drops a second one with the same id within its window. */
  readonly id: string;
  /** Topic, the last part of the stream's subject: `stimulus`, `volume`, `workflow`, `audit` … */
  readonly topic: string;
  /** Which process raised it: `api`, `controllers` … */
  readonly source: string;
  /** PascalCase name of the specification, such as `StimulusReceived`. */
  readonly type: string;
  /** What it is about, such as an execution's id. */
  readonly subject: string;
  readonly tenant: string;
  /** RFC 3339. */
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Publishes domain and audit events. Resolves once the event is stored; throws AppError `unavailable` otherwise. */
export interface EventPublisher {
  publish(event: BusEvent): Promise<void>;
}

/** A stored value with the revision that guards its next change. */
export interface KeyValueEntry<T> {
  readonly value: T;
  readonly revision: number;
}

/**
 * A bucket of JSON values whose entries end after the bucket's time to live. Any string is a key. Every replica sees
 * the same bucket. All calls throw AppError `unavailable` when the bus cannot be reached.
 */
export interface KeyValueBucket<T> {
  get(key: string): Promise<KeyValueEntry<T> | undefined>;
  /** The new revision, or undefined when the key is taken: of any number of callers exactly one gets a revision. */
  create(key: string, value: T): Promise<number | undefined>;
  /** The new revision, or undefined when somebody wrote in between. */
  update(key: string, value: T, revision: number): Promise<number | undefined>;
  /** Frees the key, if it is still at that revision. */
  delete(key: string, revision: number): Promise<void>;
}

import type { BackoffLimits } from '../../backoff.ts';
import type { StreamDefinition } from '../publish/message-stream.ts';

/** Which messages: the domain events, the audit events, or those of a stream of our own. */
export type MessageSource = 'events' | 'audit' | StreamDefinition;

export interface SubscriptionDefinition {
  /**
   * Names the durable consumer, whose place in the stream the server keeps: replicas that subscribe under one name share
   * its messages, and each message reaches one of them. Lower-case letters, digits and dashes.
   */
  readonly name: string;
  readonly source: MessageSource;
  /** `events`: the topic. Otherwise the key. Default: all. */
  readonly key?: string;
  /** Where a consumer that did not exist before begins. Default `first`. */
  readonly from?: 'first' | 'now';
  /**
   * `shared`: one line for all tenants, in the order of the stream. `tenants`: a line, with a place of its own, for each
   * tenant that `serve` names, so that the backlog of one keeps no other waiting; turns between them are those of
   * `lib/fair-pool.ts`. Default `shared`.
   */
  readonly consumers?: 'shared' | 'tenants';
  /** Messages handled at a time by this process; 1 keeps the order of a stream as long as nothing fails. */
  readonly concurrency: number;
  /** Deliveries of a message in all, those included that a crash or a shutdown cut short. Default `busLimits.attempts`. */
  readonly attempts?: number;
  /** Delay before the next delivery. Default: `busLimits.retryBaseMs` to `busLimits.retryMaxMs`. */
  readonly backoff?: BackoffLimits;
  /** Longest handling of one message. Default `busLimits.handleMs`. */
  readonly handleMs?: number;
}

/** A message as its handler sees it. */
export interface Delivery {
  readonly tenant: string;
  /** The topic of an event, or the key of a message; empty for audit events. */
  readonly key: string;
  readonly body: Uint8Array;
  readonly sequence: number;
  /** 1 for the first delivery. */
  readonly attempt: number;
  /** When the server stored it. RFC 3339. */
  readonly time: string;
  /** Aborts when the time of the message is over, or the grace of a shutdown. */
  readonly signal: AbortSignal;
}

/**
 * Handles a message, which is acknowledged when the promise resolves. A message may come twice: after a crash, a lost
 * connection, or a failure. An error makes it come again, after a delay; AppError with a code that no repetition mends
 * (`invalid`, `terminal`, `not_found` …) makes it a dead letter at once.
 */
export type HandleDelivery = (delivery: Delivery) => Promise<void>;

/** A consumer at work. */
export interface Subscription {
  /** Tenants whose consumers are served from now on; the others' places stay on the server. Only for consumers `tenants`. */
  serve(tenants: readonly string[]): void;
  /**
   * Takes no more messages, returns those that are not begun, and resolves when those under way are handled. After
   * `graceMs` their signals abort and they are returned as well.
   */
  close(graceMs: number): Promise<void>;
}

/** Durable consumers of streams. */
export interface Subscriber {
  /**
   * Begins at once, or when the bus is there, and continues over every loss of the connection.
   * @throws AppError `unavailable` where no event bus is configured: subscriptions need NATS.
   */
  subscribe(definition: SubscriptionDefinition, handle: HandleDelivery): Subscription;
}

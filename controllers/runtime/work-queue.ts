import type { Clock } from '../../lib/clock.ts';
import { type BackoffLimits, halfJitter } from '../../lib/backoff.ts';
import { createDelayHeap, type DelayHeap } from './delay-heap.ts';
import { createNamespaceQueues, type NamespaceQueues } from './namespace-queues.ts';

/** Receives the queue's state; must not throw. Times are milliseconds. */
export interface QueueObserver {
  depth(depth: number): void;
  /** From the moment the key became ready until a worker took it. */
  waited(ms: number): void;
}

interface WorkQueueDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
  readonly observer?: QueueObserver;
}

/** After a failure. */
const failureBackoff: BackoffLimits = { baseMs: 50, maxMs: 30_000 };
/** From that many failures on, news of a key does not hurry it: what fails each time would else cost as much as is written. */
const patientFailures = 3;
/** After something that is not allowed: only a person can change that. */
const refusalBackoff: BackoffLimits = { baseMs: 1_000, maxMs: 300_000 };

/**
 * Keys that need work. A key waits at most once however often it is added. While a worker holds it, adding it again
 * makes it ready right after `done`, so no change is lost and no key is worked on twice at once. Namespaces take turns
 * (`namespace-queues.ts`).
 */
export interface WorkQueue {
  /** There is news of the key. */
  add(key: string): void;
  /** Ready after `ms`. The earliest of several delays of one key wins. */
  addAfter(key: string, ms: number): void;
  /**
   * Ready after the key's own backoff, which doubles with each call up to the maximum and is half random. From the third
   * call on it is not ready before that, whatever news there is of it.
   */
  addRateLimited(key: string): void;
  /**
   * Ready after a backoff that grows up to five minutes and begins anew when there is news of the key, or earlier, after
   * `atLatestMs`.
   */
  addRefused(key: string, atLatestMs?: number): void;
  /** Resets the key's backoffs. */
  forget(key: string): void;
  /** Calls of `addRateLimited` since the last `forget`. */
  failures(key: string): number;
  /** The next ready key; undefined once the queue is closed. Give it back with `done`. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /** Another key may be taken in its place, while this one stays in its worker's hands until `done`. */
  yieldPlace(key: string): void;
  /** Takes nothing more in and lets go of what waits. Workers give back the keys that they hold. */
  close(): void;
  /** Ready keys, those being worked on not included. */
  readonly depth: number;
  /** How long the oldest of them has been ready, in milliseconds. */
  readonly oldestMs: number;
}

/** `workers`: who takes keys; no namespace has all of them (`namespace-queues.ts`). */
export function createWorkQueue(deps: WorkQueueDeps, workers: number): WorkQueue {
  return new KeyQueue(deps, workers);
}

/** `dirty`: a worker holds the key, and it was added again. */
type KeyState = 'ready' | 'held' | 'dirty';

class KeyQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observer: QueueObserver | undefined;
  readonly #states = new Map<string, KeyState>();
  readonly #queues: NamespaceQueues;
  readonly #failures = new Map<string, number>();
  readonly #refusals = new Map<string, number>();
  /** Held keys whose place another one may have. */
  readonly #placeless = new Set<string>();
  /** When a key that keeps failing may be worked on again, in milliseconds of the steady clock. */
  readonly #notBefore = new Map<string, number>();
  readonly #delays: DelayHeap;
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(deps: WorkQueueDeps, workers: number) {
    this.#clock = deps.clock;
    this.#random = deps.random ?? Math.random;
    this.#observer = deps.observer;
    this.#queues = createNamespaceQueues(workers);
    this.#delays = createDelayHeap(deps.clock, (key) => this.#enqueue(key));
  }

  get depth(): number {
    return this.#queues.size;
  }

  get oldestMs(): number {
    const { oldest } = this.#queues;
    return oldest === undefined ? 0 : this.#clock.steadyMs() - oldest;
  }

  add(key: string): void {
    this.#refusals.delete(key);
    this.#enqueueInTime(key);
  }

  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) this.#enqueue(key);
    else this.#delays.set(key, this.#clock.steadyMs() + ms);
  }

  addRateLimited(key: string): void {
    const delayMs = this.#backoff(key, this.#failures, failureBackoff);
    if (this.failures(key) >= patientFailures) this.#notBefore.set(key, this.#clock.steadyMs() + delayMs);
    this.addAfter(key, delayMs);
  }

  addRefused(key: string, atLatestMs = Number.POSITIVE_INFINITY): void {
    const delayMs = this.#backoff(key, this.#refusals, refusalBackoff);
    this.#notBefore.delete(key);
    this.addAfter(key, Math.min(delayMs, atLatestMs));
  }

  forget(key: string): void {
    this.#failures.delete(key);
    this.#refusals.delete(key);
    this.#notBefore.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const key = this.#hand();
    if (key === undefined) return new Promise((resolve) => this.#takers.push(resolve));
    return Promise.resolve(key);
  }

  done(key: string): void {
    const state = this.#states.get(key);
    if (state !== 'held' && state !== 'dirty') return;
    this.#states.delete(key);
    if (!this.#placeless.delete(key)) this.#queues.end(key);
    if (state === 'dirty') this.#enqueueInTime(key);
    this.#serve();
  }

  yieldPlace(key: string): void {
    const state = this.#states.get(key);
    if ((state !== 'held' && state !== 'dirty') || this.#placeless.has(key)) return;
    this.#placeless.add(key);
    this.#queues.end(key);
    this.#serve();
  }

  close(): void {
    this.#closed = true;
    this.#delays.clear();
    this.#queues.clear();
    for (const [key, state] of this.#states) {
      if (state === 'ready') this.#states.delete(key);
      if (state === 'dirty') this.#states.set(key, 'held');
    }
    for (const taker of this.#takers.splice(0)) taker(undefined);
    this.#observer?.depth(0);
  }

  #backoff(key: string, counts: Map<string, number>, limits: BackoffLimits): number {
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    return halfJitter(limits, before, this.#random());
  }

  #enqueueInTime(key: string): void {
    this.addAfter(key, (this.#notBefore.get(key) ?? 0) - this.#clock.steadyMs());
  }

  #enqueue(key: string): void {
    const state = this.#states.get(key);
    if (this.#closed || state === 'ready') return;
    if (state !== undefined) {
      this.#states.set(key, 'dirty');
      return;
    }
    this.#states.set(key, 'ready');
    this.#queues.push({ key, since: this.#clock.steadyMs() });
    this.#serve();
    this.#observer?.depth(this.depth);
  }

  /** Gives idle workers what they may have. */
  #serve(): void {
    while (this.#takers.length > 0) {
      const key = this.#hand();
      if (key === undefined) return;
      this.#takers.shift()?.(key);
    }
  }

  /** Moves the next key into a worker's hands. */
  #hand(): string | undefined {
    const next = this.#queues.next();
    if (next === undefined) return undefined;
    this.#states.set(next.key, 'held');
    this.#observer?.waited(this.#clock.steadyMs() - next.since);
    this.#observer?.depth(this.depth);
    return next.key;
  }
}

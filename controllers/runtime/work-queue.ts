import type { Clock } from '../../lib/clock.ts';
import { type BackoffLimits, halfJitter } from '../../lib/informer/backoff.ts';
import { createDelayHeap, type DelayHeap } from './delay-heap.ts';

/** Told about the queue's state; must not throw. Times are milliseconds. */
export interface QueueObserver {
  depth(depth: number): void;
  /** From the moment the key became ready until a worker took it. */
  waited(ms: number): void;
}

export interface WorkQueueDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
  readonly observer?: QueueObserver;
}

export interface WorkQueueOptions {
  /** Delay after the first failure, milliseconds; doubles with each further one. Default 50. */
  readonly baseDelayMs?: number;
  /** Default 30,000. */
  readonly maxDelayMs?: number;
}

/**
 * Keys that need work. A key waits at most once however often it is added; while a worker holds it, adding it
 * again makes it ready right after `done`, so no change is lost and no key is worked on twice at once.
 */
export interface WorkQueue {
  add(key: string): void;
  /** Ready after `ms`. Of several delays of one key the earliest wins. */
  addAfter(key: string, ms: number): void;
  /** Ready after the key's own backoff, which doubles with each call up to the maximum and is half random. */
  addRateLimited(key: string): void;
  /** Resets the key's backoff. */
  forget(key: string): void;
  /** Calls of `addRateLimited` since the last `forget`. */
  failures(key: string): number;
  /** The next ready key, first come first served; undefined once the queue is closed. Give it back with `done`. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /** Takes nothing more in, lets go of what waits, and resolves when no worker holds a key any more. */
  close(): Promise<void>;
  /** Ready keys, those being worked on not included. */
  readonly depth: number;
  /** Keys whose time has not come. */
  readonly delayed: number;
}

export function createWorkQueue(deps: WorkQueueDeps, options: WorkQueueOptions = {}): WorkQueue {
  return new KeyQueue(deps, options);
}

class KeyQueue implements WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observer: QueueObserver | undefined;
  readonly #limits: BackoffLimits;
  /** Ready keys in order, each with the time since when. */
  readonly #ready = new Map<string, number>();
  readonly #held = new Set<string>();
  /** Held keys that were added again. */
  readonly #dirty = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #delays: DelayHeap;
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #drained: (() => void)[] = [];
  #closed = false;

  constructor(deps: WorkQueueDeps, options: WorkQueueOptions) {
    this.#clock = deps.clock;
    this.#random = deps.random ?? Math.random;
    this.#observer = deps.observer;
    this.#limits = { baseMs: options.baseDelayMs ?? 50, maxMs: options.maxDelayMs ?? 30_000 };
    this.#delays = createDelayHeap(deps.clock, (key) => this.add(key));
  }

  get depth(): number {
    return this.#ready.size;
  }

  get delayed(): number {
    return this.#delays.size;
  }

  add(key: string): void {
    if (this.#closed || this.#ready.has(key)) return;
    if (this.#held.has(key)) {
      this.#dirty.add(key);
      return;
    }
    this.#ready.set(key, this.#clock.now());
    this.#takers.shift()?.(this.#hand());
    this.#observer?.depth(this.#ready.size);
  }

  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) this.add(key);
    else this.#delays.set(key, this.#clock.now() + ms);
  }

  addRateLimited(key: string): void {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.addAfter(key, halfJitter(this.#limits, failures, this.#random()));
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const key = this.#hand();
    if (key === undefined) return new Promise((resolve) => this.#takers.push(resolve));
    this.#observer?.depth(this.#ready.size);
    return Promise.resolve(key);
  }

  done(key: string): void {
    this.#held.delete(key);
    if (this.#dirty.delete(key)) this.add(key);
    if (this.#closed && this.#held.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#delays.clear();
    this.#ready.clear();
    this.#dirty.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
    this.#observer?.depth(0);
    return this.#held.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Moves the oldest ready key into a worker's hands. */
  #hand(): string | undefined {
    const next = this.#ready.entries().next();
    if (next.done) return undefined;
    const [key, since] = next.value;
    this.#ready.delete(key);
    this.#held.add(key);
    this.#observer?.waited(this.#clock.now() - since);
    return key;
  }
}

import { LRUCache } from 'lru-cache';

/** Hosts whose checkpoints this process counts; the longest unused one is forgotten first. */
const hostsMax = 20_000;
/** Checkpoints that a host may have before its pace counts, so that a daemon which starts is not held up. */
const burst = 4;

interface Tokens {
  readonly left: number;
  readonly at: number;
}

/**
 * How often new capabilities of a host are written, over all of its streams at this relay: one checkpoint for each heartbeat
 * interval, and four at first. A write of capabilities is a version of the object in the store, and an event for each watch.
 */
export class Checkpoints {
  readonly #steadyMs: () => number;
  readonly #intervalMs: number;
  readonly #hosts = new LRUCache<string, Tokens>({ max: hostsMax });

  constructor(steadyMs: () => number, intervalMs: number) {
    this.#steadyMs = steadyMs;
    this.#intervalMs = intervalMs;
  }

  /** Whether the host may have one now. */
  isDue(uid: string): boolean {
    return this.#filled(uid) >= 1;
  }

  /** The same; the checkpoint counts from then on. */
  take(uid: string): boolean {
    const filled = this.#filled(uid);
    if (filled < 1) return false;
    this.#hosts.set(uid, { left: filled - 1, at: this.#steadyMs() });
    return true;
  }

  /** The checkpoint was not written. */
  giveBack(uid: string): void {
    const tokens = this.#hosts.get(uid);
    if (tokens !== undefined) this.#hosts.set(uid, { ...tokens, left: Math.min(burst, tokens.left + 1) });
  }

  #filled(uid: string): number {
    const tokens = this.#hosts.get(uid);
    if (tokens === undefined) return burst;
    return Math.min(burst, tokens.left + (this.#steadyMs() - tokens.at) / this.#intervalMs);
  }
}

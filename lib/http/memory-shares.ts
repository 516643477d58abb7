import type { Clock } from '../clock.ts';

interface MemorySharesOptions {
  /** What all owners together may have; one of them may have half of it. */
  readonly totalBytes: number;
  /** What a request may have in any case. */
  readonly smallBytes: number;
  /** How long a request waits for its turn. Default 15 s. */
  readonly waitMs?: number;
}

const defaultWaitMs = 15_000;
/** Requests of one owner that wait at a time. */
const waitingMax = 64;
/** Owners that are remembered although they have nothing: a table that changes with each request is made anew often. */
const idleOwners = 1_000;

interface Waiter {
  readonly bytes: number;
  readonly settle: (isGranted: boolean) => void;
}

/** One owner's part. */
interface Share {
  bytes: number;
  readonly waiting: Waiter[];
}

/**
 * Memory that requests share by their owners: no owner can take more than half, so that others always find room, and
 * who waits gets room in turn with the other owners. Sizes are what the caller says, in bytes.
 */
export class MemoryShares {
  readonly #clock: Clock;
  readonly #options: MemorySharesOptions;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;
  #waiting = 0;

  constructor(clock: Clock, options: MemorySharesOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Counts bytes, of which the request has `already` so many; false where that is more than it may have. */
  take(owner: string, bytes: number, already: number): boolean {
    const share = this.#shareOf(owner);
    const isFine = already + bytes <= this.#options.smallBytes || this.#hasRoom(share, bytes);
    this.#add(share, bytes);
    return isFine;
  }

  /** Counts bytes once there is room for them; false, and nothing counted, where there is none for too long. */
  async wait(owner: string, bytes: number, signalOf: () => AbortSignal): Promise<boolean> {
    const share = this.#shareOf(owner);
    const isNext = share.waiting.length === 0 && this.#hasRoom(share, bytes);
    if (bytes <= this.#options.smallBytes || isNext) {
      this.#add(share, bytes);
      return true;
    }
    return share.waiting.length < waitingMax && (await this.#queue(share, bytes, signalOf()));
  }

  /** What was counted is free again. */
  give(owner: string, bytes: number): void {
    if (bytes === 0) return;
    const share = this.#shareOf(owner);
    this.#add(share, -bytes);
    this.#admit();
    if (this.#shares.size > idleOwners && share.bytes === 0 && share.waiting.length === 0) this.#shares.delete(owner);
  }

  #shareOf(owner: string): Share {
    const known = this.#shares.get(owner) ?? { bytes: 0, waiting: [] };
    this.#shares.set(owner, known);
    return known;
  }

  #hasRoom({ bytes: has }: Share, bytes: number): boolean {
    const { totalBytes } = this.#options;
    return this.#bytes + bytes <= totalBytes && has + bytes <= totalBytes / 2;
  }

  #add(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }

  #queue(share: Share, bytes: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settled = new AbortController();
      const waiter: Waiter = {
        bytes,
        settle: (isGranted) => {
          const index = share.waiting.indexOf(waiter);
          if (index < 0) return;
          share.waiting.splice(index, 1);
          this.#waiting -= 1;
          if (isGranted) this.#add(share, bytes);
          settled.abort();
          resolve(isGranted);
        },
      };
      share.waiting.push(waiter);
      this.#waiting += 1;
      const giveUp = AbortSignal.any([signal, settled.signal]);
      void this.#clock.sleep(this.#options.waitMs ?? defaultWaitMs, giveUp).then(() => waiter.settle(false));
    });
  }

  /** One of each owner in turn, for as long as there is room: whoever was served stands behind the others. */
  #admit(): void {
    if (this.#waiting === 0) return;
    const owners = [...this.#shares].filter(([, { waiting }]) => waiting.length > 0);
    for (const [owner, share] of owners) {
      const [first] = share.waiting;
      if (first === undefined || !this.#hasRoom(share, first.bytes)) continue;
      first.settle(true);
      this.#shares.delete(owner);
      this.#shares.set(owner, share);
    }
  }
}

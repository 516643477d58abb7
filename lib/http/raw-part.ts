import { Link } from './link.ts';

/** Bytes of the bodies of one owner. */
export interface RawShare {
  bytes: number;
}

/** A body that comes more slowly may have to make room. Each byte buys time, of which a body has no more than `aheadMs`. */
export const pace = { aheadMs: 500, bytesPerMs: 64 } as const;

interface RawPartOptions {
  readonly owner: string;
  readonly giveWay: () => void;
  /** By the steady clock. */
  readonly now: number;
}

/** One body in the account of its owner. It is in the ring of its account for as long as it comes. */
export class RawPart extends Link {
  readonly owner: string;
  /** Breaks its request off. */
  readonly giveWay: () => void;
  isWhole = false;
  share: RawShare | undefined;
  counted = 0;
  /** When it falls behind its pace. */
  dueAt: number;
  #bytes = 0;

  constructor({ owner, giveWay, now }: RawPartOptions) {
    super();
    this.owner = owner;
    this.giveWay = giveWay;
    this.dueAt = now + pace.aheadMs;
  }

  advance(now: number, bytes: number): void {
    this.dueAt = Math.min(now + pace.aheadMs, this.dueAt + (bytes - this.#bytes) / pace.bytesPerMs);
    this.#bytes = bytes;
  }
}

import type { Clock } from '../clock.ts';
import { Link } from './link.ts';
import { RawPart, type RawShare } from './raw-part.ts';

/** Owners that are remembered although they have nothing: a table that changes with each request is made anew often. */
const idleOwners = 1_000;

/** The least that a body counts as: its request takes memory as well. */
const leastBytes = 4_096;

interface RawSharesOptions {
  readonly clock: Clock;
  readonly totalBytes: number;
  /** The most that one owner has. */
  readonly ownerBytes: number;
}

/**
 * Bytes of bodies as they came, in accounts of their owners. They cannot wait for their turn, since they come by themselves. Where room
 * is wanted, the body gives way that is furthest behind its pace; where none is, one of an owner that has more than the one who asks
 * (ADR 0163). A body that came as a whole gives way to none.
 */
export class RawShares {
  readonly #options: RawSharesOptions;
  readonly #owners = new Map<string, RawShare>();
  /** Bodies that come. */
  readonly #coming = new Link();
  #bytes = 0;

  constructor(options: RawSharesOptions) {
    this.#options = options;
  }

  /** Counts the bytes that a body has by now; false where that is more than it may have. */
  take(part: RawPart, bytes: number): boolean {
    const share = this.#shareOf(part);
    const more = Math.max(bytes, leastBytes) - part.counted;
    part.counted += more;
    share.bytes += more;
    this.#bytes += more;
    part.advance(this.#options.clock.steadyMs(), bytes);
    if (!part.isWhole) part.joinBehind(this.#coming);
    while (this.#bytes > this.#options.totalBytes || this.#isOver(share)) {
      const last = this.#lastFor(share);
      if (last === undefined || last === part) return false;
      this.give(last);
      last.giveWay();
    }
    return true;
  }

  /** Its bytes are kept no more. */
  give(part: RawPart): void {
    part.leaveRing();
    const { share, counted, owner } = part;
    part.share = undefined;
    part.counted = 0;
    if (share === undefined) return;
    share.bytes -= counted;
    this.#bytes -= counted;
    if (share.bytes === 0 && this.#owners.size > idleOwners) this.#owners.delete(owner);
  }

  #isOver({ bytes }: RawShare): boolean {
    return bytes > this.#options.ownerBytes;
  }

  /** The body that gives way to one of `share`. */
  #lastFor(share: RawShare): RawPart | undefined {
    const isOwn = this.#isOver(share);
    let due = this.#options.clock.steadyMs();
    let most = share.bytes;
    let slowest: RawPart | undefined;
    let fullest: RawPart | undefined;
    for (let link = this.#coming.next; link instanceof RawPart; link = link.next) {
      if (link.share === undefined || (isOwn && link.share !== share)) continue;
      if (link.dueAt < due) [slowest, due] = [link, link.dueAt];
      if (link.share.bytes > most) [fullest, most] = [link, link.share.bytes];
    }
    return slowest ?? fullest;
  }

  #shareOf(part: RawPart): RawShare {
    const share = part.share ?? this.#owners.get(part.owner) ?? { bytes: 0 };
    if (part.share === undefined) this.#owners.set(part.owner, share);
    part.share = share;
    return share;
  }
}

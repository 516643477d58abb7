import { conversationLimits } from '../../../lib/conversation/limits.ts';
import type { PoolPart } from '../../../lib/fair-pool.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { registeredListBytes } from '../../../lib/tools/registered.ts';

/** Memory that one conversation takes beside its texts, its requests, subscriptions and timers: 88 KiB measured. */
const ownBytes = 96 * 1024;

/**
 * Texts, and the list of registered tools, are held once, and once more as the body of a request to the model. Arguments of calls
 * under way are held once, and once more as the command of a pod.
 */
const copies = 2;

/** A quarter more than is held is taken: a conversation seldom asks for more. */
const slack = 1.25;

const neededFor = (textBytes: number): number => ownBytes + copies * textBytes;

/** Bytes of heap for the conversations that one replica drives. */
export const roomLimits = {
  /** All of them. */
  poolBytes: bytesOf('conversations'),
  /** One whose size is not known yet, since its log is still to be read. */
  unreadBytes: 512 * 1024,
  /** One of any size: a conversation with more text fails, more signed calls are refused, and no list of tools is longer. */
  largestBytes: neededFor(
    conversationLimits.heldBytes + conversationLimits.signedBytes + conversationLimits.callBytes + registeredListBytes,
  ),
} as const;

/** The part of a replica's memory that one conversation has, counted by the bytes that it holds. */
export class Room {
  readonly #place: PoolPart;
  #bytes: number;

  /** `bytes`: what the place was entered with. */
  constructor(place: PoolPart, bytes: number) {
    this.#place = place;
    this.#bytes = bytes;
  }

  /** Most bytes of text that it has room for now. */
  get textBytes(): number {
    return this.#isLargest ? Number.POSITIVE_INFINITY : (this.#bytes - ownBytes) / copies;
  }

  /** Gives back what a conversation with so many bytes of text does not need. */
  settle(textBytes: number): void {
    const wanted = wantedFor(textBytes);
    if (wanted >= this.#bytes) return;
    this.#place.shrinkTo(wanted);
    this.#bytes = wanted;
  }

  /** Whether so many bytes of text fit, where needed by taking more. */
  fits(textBytes: number): boolean {
    if (textBytes <= this.textBytes) return true;
    const wanted = wantedFor(textBytes);
    if (!this.#place.growTo(wanted)) return false;
    this.#bytes = wanted;
    return true;
  }

  get #isLargest(): boolean {
    return this.#bytes >= roomLimits.largestBytes;
  }
}

/** Bytes to ask for, where so many bytes of text are held. */
export const wantedFor = (textBytes: number): number =>
  Math.min(Math.ceil(slack * neededFor(textBytes)), roomLimits.largestBytes);

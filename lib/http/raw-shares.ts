/** Owners that are remembered although they have nothing: a table that changes with each request is made anew often. */
const idleOwners = 1_000;

/**
 * Bytes of bodies as they came. They cannot wait for their turn, since they come by themselves: one owner that has half
 * of all is refused more, so that there is room for others.
 */
export class RawShares {
  readonly #totalBytes: number;
  readonly #smallBytes: number;
  readonly #owners = new Map<string, { bytes: number }>();
  #bytes = 0;

  /** `smallBytes` are what a request may have in any case. */
  constructor(totalBytes: number, smallBytes: number) {
    this.#totalBytes = totalBytes;
    this.#smallBytes = smallBytes;
  }

  /** Counts bytes of a request that has `already` so many; false where that is more than it may have. */
  take(owner: string, bytes: number, already: number): boolean {
    const has = this.#add(owner, bytes);
    const isSmall = already + bytes <= this.#smallBytes;
    return isSmall || (this.#bytes <= this.#totalBytes && has <= this.#totalBytes / 2);
  }

  /** They are kept no more. */
  give(owner: string, bytes: number): void {
    if (bytes === 0) return;
    const left = this.#add(owner, -bytes);
    if (left === 0 && this.#owners.size > idleOwners) this.#owners.delete(owner);
  }

  #add(owner: string, bytes: number): number {
    const share = this.#owners.get(owner) ?? { bytes: 0 };
    this.#owners.set(owner, share);
    share.bytes += bytes;
    this.#bytes += bytes;
    return share.bytes;
  }
}

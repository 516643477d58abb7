/**
 * A link of a ring. A Set would do, but for the memory. Its table is made anew every few requests, and each old one
 * refers to the next and to the requests that ran then. Once one of them has grown old, all that follow are kept until
 * the next full collection.
 */
export class Link {
  next: Link = this;
  #previous: Link = this;

  /** One that is in a ring already stays where it is. */
  joinBehind(other: Link): void {
    if (this.next !== this) return;
    this.next = other.next;
    this.#previous = other;
    other.next.#previous = this;
    other.next = this;
  }

  /** Drops its references, so that it keeps no object alive. */
  leaveRing(): void {
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }
}

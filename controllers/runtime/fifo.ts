/** Items in the order of their arrival. No call costs more for there being many of them. */
export interface Fifo<T> {
  push(item: T): void;
  shift(): T | undefined;
  /** The element that `shift` would take. */
  readonly first: T | undefined;
}

export function createFifo<T>(): Fifo<T> {
  return new LinkedFifo<T>();
}

interface Link<T> {
  readonly item: T;
  next: Link<T> | undefined;
}

/** Not an array, whose `shift` moves what is left, nor a Map, which keeps the places of what was taken out. */
class LinkedFifo<T> implements Fifo<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get first(): T | undefined {
    return this.#first?.item;
  }

  push(item: T): void {
    const link = { item, next: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
  }

  shift(): T | undefined {
    const taken = this.#first;
    if (taken === undefined) return undefined;
    this.#first = taken.next;
    if (this.#first === undefined) this.#last = undefined;
    // A link that has grown old would keep all that follow until the next full collection (ADR 0029).
    taken.next = undefined;
    return taken.item;
  }
}

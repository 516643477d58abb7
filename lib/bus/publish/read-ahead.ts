interface Placed {
  readonly seq: number;
  readonly data?: Uint8Array;
}

export interface PageBounds {
  readonly after: number;
  /** Most messages of the page. */
  readonly most: number;
  /** Most bytes of the page, unless its first message alone has more. */
  readonly bytes: number;
}

/** Requests for messages of one page that are under way at once. */
const aheadMost = 32;

/** Memory for one more answer; undefined where none is left. */
export type TakeRoom = () => Disposable | undefined;

/**
 * The messages behind a place, in order. `next` finds the first message from a place on. Nearly all of some logs
 * belongs to one subject, such as that of a run over thousands of hosts. There, requests for the places that follow
 * find as many messages in one turn, as far as there is room for them. Where two find the same one, the next turn asks
 * for one place alone. An answer behind one without a message counts for nothing: its message came in between, and
 * others before it may have come as well.
 */
export async function readAhead<M extends Placed>(
  next: (place: number) => Promise<M | undefined>,
  { after: start, most, bytes }: PageBounds,
  takeRoom: TakeRoom,
): Promise<M[]> {
  const page = new Taken<M>(start, bytes);
  for (let ahead = 1; page.found.length < most && page.room >= 0; ) {
    using rooms = new DisposableStack();
    const places = [page.after + 1];
    while (places.length < ahead) {
      const room = takeRoom();
      if (room === undefined) break;
      rooms.use(room);
      places.push(page.after + 1 + places.length);
    }
    const before = page.found.length;
    for (const message of await Promise.all(places.map(next))) {
      if (message === undefined || !page.take(message)) return page.found;
    }
    const isDense = page.found.length - before === places.length;
    ahead = isDense ? Math.min(2 * places.length, aheadMost, most - page.found.length, page.fitting) : 1;
  }
  return page.found;
}

/** Those of some messages that make a page, in their order. */
export function pageOf<M extends Placed>(messages: Iterable<M>, { after, most, bytes }: PageBounds): M[] {
  const page = new Taken<M>(after, bytes);
  for (const message of messages) if (page.found.length === most || !page.take(message)) break;
  return page.found;
}

/** The messages of a page so far. */
class Taken<M extends Placed> {
  readonly found: M[] = [];
  /** The place of the last one. */
  after: number;
  /** Bytes that are left. */
  room: number;
  readonly #bytes: number;

  constructor(after: number, bytes: number) {
    this.after = after;
    this.room = bytes;
    this.#bytes = bytes;
  }

  /** False where it does not fit. One that was found before counts for nothing. */
  take(message: M): boolean {
    if (message.seq <= this.after) return true;
    this.room -= message.data?.byteLength ?? 0;
    if (this.room < 0 && this.found.length > 0) return false;
    this.found.push(message);
    this.after = message.seq;
    return true;
  }

  /** How many more messages of the size of these fit, at least one: what does not fit is read in vain. */
  get fitting(): number {
    return Math.max(1, Math.ceil((this.room * this.found.length) / (this.#bytes - this.room)));
  }
}

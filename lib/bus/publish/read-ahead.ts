interface Placed {
  readonly seq: number;
}

interface Page {
  readonly after: number;
  /** Most messages of the page. */
  readonly most: number;
}

/** Requests for messages of one page that are under way at once. */
const aheadMost = 32;

/**
 * The messages behind a place, in order. `next` finds the first message from a place on. In a log that nearly all belongs to
 * one subject, such as that of a run over thousands of hosts, requests for the places that follow find as many messages in
 * one turn; where two find the same one, the next turn asks for one place alone. An answer behind one without a message
 * counts for nothing: its message came in between, and others before it may have come as well.
 */
export async function readAhead<M extends Placed>(
  next: (place: number) => Promise<M | null>,
  { after: start, most }: Page,
): Promise<M[]> {
  const found: M[] = [];
  let after = start;
  for (let ahead = 1; found.length < most; ) {
    const places = Array.from({ length: ahead }, (_, index) => after + 1 + index);
    const asked = await Promise.all(places.map(next));
    const before = found.length;
    for (const message of asked) {
      if (message === null) return found;
      if (message.seq <= after) continue;
      found.push(message);
      after = message.seq;
    }
    ahead = found.length - before < ahead ? 1 : Math.min(2 * ahead, aheadMost, most - found.length);
  }
  return found;
}

/** A request whose handler runs. */
export interface InFlightRequest {
  /** Made at the first look: most handlers end before anybody could call them off. */
  readonly signal: AbortSignal;
  abort(): void;
  /** The handler is done. */
  leave(): void;
}

/** The requests whose handlers run, and whether they may go on. */
export interface InFlight {
  readonly isStopping: boolean;
  /** `isStream`: its answer has no end of its own. */
  enter(isStream: boolean): InFlightRequest;
  stop(): void;
  abandon(): void;
}

export function createInFlight(): InFlight {
  const ring = new Entry(false);
  let isStopping = false;
  let isAbandoned = false;

  function abort(which: (request: Entry) => boolean): void {
    for (let request = ring.next; request !== ring; ) {
      // Whoever is called off may leave at once.
      const { next } = request;
      if (which(request)) request.abort();
      request = next;
    }
  }
  return {
    get isStopping() {
      return isStopping;
    },
    enter(isStream) {
      const request = new Entry(isStream);
      request.joinBehind(ring);
      if (isAbandoned || (isStopping && isStream)) request.abort();
      return request;
    },
    stop() {
      isStopping = true;
      abort(({ isStream }) => isStream);
    },
    abandon() {
      isStopping = true;
      isAbandoned = true;
      abort(() => true);
    },
  };
}

/**
 * A link of a ring. A Set would do, but for the memory: its table is made anew every few requests, and each old one
 * refers to the next and to the requests that ran then. Once one of them has grown old, all that follow are kept until
 * the next full collection.
 */
class Entry implements InFlightRequest {
  readonly isStream: boolean;
  next: Entry = this;
  #previous: Entry = this;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(isStream: boolean) {
    this.isStream = isStream;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  joinBehind(other: Entry): void {
    this.next = other.next;
    this.#previous = other;
    other.next.#previous = this;
    other.next = this;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  /** Refers to nobody any more, so that it keeps nobody alive. */
  leave(): void {
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }
}

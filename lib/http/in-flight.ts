import type { Access } from './contract.ts';

/** A request whose handler runs. */
export interface InFlightRequest {
  /** Made at the first look: most handlers end before anybody could call them off. */
  readonly signal: AbortSignal;
  abort(): void;
  /** Its answer has no end of its own: from now on a stop calls it off. */
  endAtStop(): void;
  /** Counts bytes that it keeps in memory; false where it may not, because all requests together keep too many. */
  hold(bytes: number): boolean;
  /** The handler is done. */
  leave(): void;
}

/** The requests whose handlers run, and whether they may go on. */
export interface InFlight {
  readonly isStopping: boolean;
  enter(access: Access): InFlightRequest;
  stop(): void;
  abandon(): void;
}

/**
 * What the bodies of all requests of one access may take together, and what one may take all the same: the small ones go
 * on. Apart, so that those who may be anybody take nothing from callers who are known.
 */
export const bodyLimits = {
  bearer: 64 * 1_048_576,
  signature: 32 * 1_048_576,
  public: 32 * 1_048_576,
  smallBytes: 65_536,
} as const;

export function createInFlight(): InFlight {
  const state = { isStopping: false, isAbandoned: false, heldBytes: { bearer: 0, signature: 0, public: 0 } };
  const ring = new Entry(state, 'public');

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
      return state.isStopping;
    },
    enter(access) {
      const request = new Entry(state, access);
      request.joinBehind(ring);
      if (state.isAbandoned) request.abort();
      return request;
    },
    stop() {
      state.isStopping = true;
      abort(({ isEndless }) => isEndless);
    },
    abandon() {
      state.isStopping = true;
      state.isAbandoned = true;
      abort(() => true);
    },
  };
}

interface ServerState {
  readonly isStopping: boolean;
  readonly heldBytes: Record<Access, number>;
}

/**
 * A link of a ring. A Set would do, but for the memory: its table is made anew every few requests, and each old one
 * refers to the next and to the requests that ran then. Once one of them has grown old, all that follow are kept until
 * the next full collection.
 */
class Entry implements InFlightRequest {
  isEndless = false;
  next: Entry = this;
  readonly #server: ServerState;
  readonly #access: Access;
  #heldBytes = 0;
  #previous: Entry = this;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(server: ServerState, access: Access) {
    this.#server = server;
    this.#access = access;
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

  endAtStop(): void {
    this.isEndless = true;
    if (this.#server.isStopping) this.abort();
  }

  hold(bytes: number): boolean {
    const { heldBytes } = this.#server;
    this.#heldBytes += bytes;
    heldBytes[this.#access] += bytes;
    return this.#heldBytes <= bodyLimits.smallBytes || heldBytes[this.#access] <= bodyLimits[this.#access];
  }

  /** Refers to nobody any more, so that it keeps nobody alive. */
  leave(): void {
    this.#server.heldBytes[this.#access] -= this.#heldBytes;
    this.#heldBytes = 0;
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }
}

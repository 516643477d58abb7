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
  const requests = new Set<Entry>();
  let isStopping = false;
  let isAbandoned = false;

  const abort = (which: (request: Entry) => boolean): void => {
    for (const request of requests) if (which(request)) request.abort();
  };
  return {
    get isStopping() {
      return isStopping;
    },
    enter(isStream) {
      const request = new Entry(isStream, requests);
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

class Entry implements InFlightRequest {
  readonly isStream: boolean;
  readonly #all: Set<Entry>;
  #controller: AbortController | undefined;
  #isAborted = false;

  constructor(isStream: boolean, all: Set<Entry>) {
    this.isStream = isStream;
    this.#all = all;
    all.add(this);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  leave(): void {
    this.#all.delete(this);
  }
}

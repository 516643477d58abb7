/** A request under way, from the view of a server that stops. */
export interface InFlightRequest {
  /** Answers without an end of its own. */
  readonly isStream: boolean;
  readonly controller: AbortController;
}

/** The requests whose handlers run, and whether they may go on. */
export interface InFlight {
  readonly isStopping: boolean;
  /** The controller of the request's own signal, and what to call when its handler is done. */
  enter(isStream: boolean): { readonly controller: AbortController; readonly leave: () => void };
  stop(): void;
  abandon(): void;
}

export function createInFlight(): InFlight {
  const requests = new Set<InFlightRequest>();
  let isStopping = false;
  let isAbandoned = false;

  const abort = (which: (request: InFlightRequest) => boolean): void => {
    for (const request of requests) if (which(request)) request.controller.abort();
  };
  return {
    get isStopping() {
      return isStopping;
    },
    enter(isStream) {
      const request = { isStream, controller: new AbortController() };
      requests.add(request);
      if (isAbandoned || (isStopping && isStream)) request.controller.abort();
      return { controller: request.controller, leave: () => void requests.delete(request) };
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

import type { Clock } from '../clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';
import { endlessLimits } from './body-limits.ts';
import type { Access } from './contract.ts';
import { Link } from './link.ts';
import { tooManyStreams } from './request-errors.ts';
import { serverStops } from './server-stops.ts';
import { createServerMemory, RequestMemory, type ServerMemory } from './request-memory.ts';

/** A request whose handler runs. */
export interface InFlightRequest {
  /** Made at the first look: most handlers end before a caller could call them off. */
  readonly signal: AbortSignal;
  /** Default of `reason`: its client has left, or its answer ends. */
  abort(reason?: Error): void;
  /** When the proof of who sent it ends. */
  validUntil(time: number): void;
  /**
   * Its answer has no end of its own: from now on a stop calls it off, and the end of its sender's proof.
   * @throws HttpError 503 where its owner, or all together, have too many such answers.
   */
  endAtStop(kind: Endless): void;
  /**
   * The party that it counts for: a tenant, the source of a webhook, or the network of a stranger. Until then none. Its body counts
   * among those of `bodyOf`; default: of its access.
   */
  ownedBy(owner: string, bodyOf?: Access): void;
  /**
   * It is a signed call that holds a token of a tenant, or comes from a pod of a tenant. Its body and its answer count
   * to the share of that tenant from now on, and no longer among those of strangers. @throws HttpError 503 where there
   * is no room; for a signed call 429 where the share is used.
   */
  ofTenant(tenant: string): void;
  /** Its body is not looked at any more. */
  dropBody(): void;
  /** Begins to count its body as it comes. `giveWay` breaks it off where it comes too slowly, or where its owner has most. */
  beginBody(giveWay: () => void): ComingBody;
  /**
   * Waits until it may take so many bytes for what it makes of its body, in place of those it reserved before.
   * @throws HttpError 503 where its owner's share has no room for too long.
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Counts the bytes of an answer that is sent as a whole, unless it reserved as many before. A signed call has run by
   * then, so that its answer waits for room.
   * @throws HttpError 503, for a signed call 429 or 503, where its owner's share has no room: what is held just now waits
   * for clients to read.
   */
  answer(bytes: number): Promise<void> | undefined;
  /** So much of what it counted is left in memory at most: the text is made, and the values are let go. */
  keepOnly(bytes: number): void;
  /** It is a signed call of a tenant (`ofTenant`). */
  readonly isSigned: boolean;
  /** Memory that counts. A client that does not read its answer keeps it from others. */
  readonly heldBytes: number;
  /** Nothing of it is under way: neither its handler nor its answer. */
  leave(): void;
}

/** Events come from one feed; each log that is followed has a connection to a kubelet of its own. */
type Endless = 'events' | 'log';

/** The bytes of a body as they come. */
export interface ComingBody {
  /** Counts bytes that came; false where its owner, or all together, keep too many. */
  take(bytes: number): boolean;
  /** It came as a whole. */
  complete(): void;
}

/** The requests whose handlers run, and whether they may continue. */
export interface InFlight {
  readonly isStopping: boolean;
  enter(access: Access): InFlightRequest;
  stop(): void;
  abandon(): void;
}

export function createInFlight(clock: Clock): InFlight {
  const state: ServerState = {
    isStopping: false,
    isAbandoned: false,
    clock,
    memory: createServerMemory(clock),
    endless: createEndless(clock),
  };
  const ring = new Link();

  function abort(which: (request: Entry) => boolean, reason?: Error): void {
    for (let link = ring.next; link instanceof Entry; ) {
      // A cancelled waiter may leave at once.
      const { next } = link;
      if (which(link)) link.abort(reason);
      link = next;
    }
  }
  return {
    get isStopping() {
      return state.isStopping;
    },
    enter(access) {
      const request = new Entry(state, access);
      request.joinBehind(ring);
      if (state.isAbandoned) request.abort(serverStops());
      return request;
    },
    stop() {
      state.isStopping = true;
      abort(({ isEndless }) => isEndless);
    },
    abandon() {
      state.isStopping = true;
      state.isAbandoned = true;
      abort(() => true, serverStops());
    },
  };
}

interface ServerState {
  isStopping: boolean;
  isAbandoned: boolean;
  readonly clock: Clock;
  readonly memory: ServerMemory;
  readonly endless: Readonly<Record<Endless, FairPool>>;
}

const createEndless = (clock: Clock): ServerState['endless'] => ({
  events: createFairPool({ size: endlessLimits.events, clock }),
  log: createFairPool({ size: endlessLimits.log, clock }),
});

const longestSleepMs = 24 * 3_600_000;

class Entry extends Link implements InFlightRequest {
  isEndless = false;
  readonly #server: ServerState;
  readonly #memory: RequestMemory;
  #stream: PoolPart | undefined;
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: Error | undefined;
  #hasLeft = false;
  #validUntil = Number.POSITIVE_INFINITY;
  #over: AbortController | undefined;

  constructor(server: ServerState, access: Access) {
    super();
    this.#server = server;
    this.#memory = new RequestMemory(server.memory, access);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason?: Error): void {
    if (!this.#isAborted) this.#reason = reason;
    this.#isAborted = true;
    this.#controller?.abort(reason);
  }

  endAtStop(kind: Endless): void {
    this.#stream = this.#server.endless[kind].tryEnter({ tenant: this.#memory.owner });
    if (this.#stream === undefined) throw tooManyStreams();
    this.isEndless = true;
    if (this.#server.isStopping) this.abort();
    else void this.#endWithProof();
  }

  ownedBy(owner: string, bodyOf?: Access): void {
    this.#memory.ownedBy(owner, bodyOf);
  }

  validUntil(time: number): void {
    this.#validUntil = time;
    if (this.isEndless) void this.#endWithProof();
  }

  /** In steps, since a timer holds no more than some days; until the answer ends, however it does. */
  async #endWithProof(): Promise<void> {
    const { clock } = this.#server;
    while (Number.isFinite(this.#validUntil) && !this.#isAborted && !this.#hasLeft) {
      const leftMs = this.#validUntil - clock.now();
      if (leftMs <= 0) return this.abort();
      await clock.sleep(Math.min(leftMs, longestSleepMs), this.#ended);
    }
  }

  /** Aborts when nothing of the request is under way. Made only for an answer that is bound to a time. */
  get #ended(): AbortSignal {
    this.#over ??= new AbortController();
    return this.#over.signal;
  }

  ofTenant(tenant: string): void {
    this.#memory.ofTenant(tenant);
  }

  dropBody(): void {
    this.#memory.dropBody();
  }

  beginBody(giveWay: () => void): ComingBody {
    return this.#memory.beginBody(giveWay);
  }

  reserve(bytes: number): Promise<void> {
    return this.#memory.reserve(bytes, () => this.signal);
  }

  answer(bytes: number): Promise<void> | undefined {
    return this.#memory.answer(bytes, () => this.signal);
  }

  keepOnly(bytes: number): void {
    this.#memory.keepOnly(bytes);
  }

  get isSigned(): boolean {
    return this.#memory.isSigned;
  }

  get heldBytes(): number {
    return this.#memory.heldBytes;
  }

  leave(): void {
    this.#memory.leave();
    this.#stream?.leave();
    this.#hasLeft = true;
    this.#over?.abort();
    this.leaveRing();
  }
}

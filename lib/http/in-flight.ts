import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { createFairPool, type FairPool, type Place } from '../fair-pool.ts';
import type { Access } from './contract.ts';
import { RawShares } from './raw-shares.ts';
import { tenantShareUsed, tooManyAnswers, tooManyBodies, tooManyStreams } from './request-errors.ts';

/** A request whose handler runs. */
export interface InFlightRequest {
  /** Made at the first look: most handlers end before anybody could call them off. */
  readonly signal: AbortSignal;
  abort(): void;
  /** When the proof of who sent it ends. */
  validUntil(time: number): void;
  /**
   * Its answer has no end of its own: from now on a stop calls it off, and the end of its sender's proof.
   * @throws HttpError 503 where its owner, or all together, have too many such answers.
   */
  endAtStop(kind: Endless): void;
  /** The party that it counts for: a tenant, or the source of a webhook. Until then none. */
  ownedBy(owner: string): void;
  /**
   * It is a signed call that holds a token of a tenant, or comes from a pod of a tenant: its body and its answer count to the share
   * of that tenant from now on, and no longer among those of strangers.
   * @throws HttpError 503 where there is no room; for a signed call 429 where the share is used.
   */
  ofTenant(tenant: string): void;
  /** Its body is not looked at any more. */
  dropBody(): void;
  /** Counts bytes that it keeps as they came; false where its owner, or all together, keep too many. */
  hold(bytes: number): boolean;
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
  /** It holds memory, which a client that does not read its answer keeps from others. */
  readonly isLarge: boolean;
  /** Nothing of it is under way: neither its handler nor its answer. */
  leave(): void;
}

/** Events come from one feed; each log that is followed has a connection to a kubelet of its own. */
export type Endless = 'events' | 'log';

/** The requests whose handlers run, and whether they may continue. */
export interface InFlight {
  readonly isStopping: boolean;
  enter(access: Access): InFlightRequest;
  stop(): void;
  abandon(): void;
}

const mib = 1_048_576;

/**
 * Memory limit of the bodies of all requests of one access together as they came, and of the values made of them and
 * of large answers that are under way. Apart, so that
 * those who may be anybody take nothing from callers who are known; no owner can have all of it. With the copies that
 * a start makes of its input this stays below the memory that the chart gives the API (design §11).
 */
export const bodyLimits = {
  raw: { bearer: 64 * mib, signature: 32 * mib, public: 32 * mib, pod: 32 * mib },
  parsed: { bearer: 64 * mib, signature: 32 * mib, public: 32 * mib, pod: 32 * mib },
  /** Bodies and answers of signed calls, once their tenants are known. */
  signed: 64 * mib,
  /** Answers of signed calls that wait for room, of all tenants together. */
  signedWaiting: 256,
  /** Bytes of those answers together: each is in memory while it waits. One tenant has four fifths of them at most. */
  signedWaitingBytes: 16 * mib,
  /** Memory that a request may have whatever others have: small ones are always served. */
  smallRawBytes: 65_536,
  smallParsedBytes: 65_536,
  /** How long a request waits for memory. */
  waitMs: 15_000,
} as const;

/** Answers without an end that may be open at one time; one owner has four fifths at most. */
export const endlessLimits = { events: 4_000, log: 200 } as const;

export function createInFlight(clock: Clock): InFlight {
  const state: ServerState = {
    isStopping: false,
    isAbandoned: false,
    clock,
    memory: createMemory(clock),
    signed: createFairPool({ size: bodyLimits.signed, waiting: bodyLimits.signedWaiting, clock }),
    signedWaiting: createFairPool({ size: bodyLimits.signedWaitingBytes, clock }),
    endless: createEndless(clock),
  };
  const ring = new Entry(state, 'public');

  function abort(which: (request: Entry) => boolean): void {
    for (let request = ring.next; request !== ring; ) {
      // A cancelled waiter may leave at once.
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
  isStopping: boolean;
  isAbandoned: boolean;
  readonly clock: Clock;
  readonly memory: Readonly<Record<Access, { readonly raw: RawShares; readonly parsed: FairPool }>>;
  readonly signed: FairPool;
  readonly signedWaiting: FairPool;
  readonly endless: Readonly<Record<Endless, FairPool>>;
}

const createEndless = (clock: Clock): ServerState['endless'] => ({
  events: createFairPool({ size: endlessLimits.events, clock }),
  log: createFairPool({ size: endlessLimits.log, clock }),
});

function createMemory(clock: Clock): ServerState['memory'] {
  const of = (access: Access) => ({
    raw: new RawShares(bodyLimits.raw[access], bodyLimits.smallRawBytes),
    parsed: createFairPool({ size: bodyLimits.parsed[access], clock }),
  });
  return { bearer: of('bearer'), signature: of('signature'), public: of('public'), pod: of('pod') };
}

const longestSleepMs = 24 * 3_600_000;

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
  #owner = '';
  #heldBytes = 0;
  #place: Place | undefined;
  #placeBytes = 0;
  #isSigned = false;
  #stream: Place | undefined;
  #previous: Entry = this;
  #controller: AbortController | undefined;
  #isAborted = false;
  #hasLeft = false;
  #validUntil = Number.POSITIVE_INFINITY;
  #over: AbortController | undefined;

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

  endAtStop(kind: Endless): void {
    this.#stream = this.#server.endless[kind].tryEnter({ tenant: this.#owner });
    if (this.#stream === undefined) throw tooManyStreams();
    this.isEndless = true;
    if (this.#server.isStopping) this.abort();
    else void this.#endWithProof();
  }

  ownedBy(owner: string): void {
    this.#owner = owner;
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
    if (this.#access === 'pod') return this.#ofPodOf(tenant);
    const bytes = this.#heldBytes;
    this.#giveRaw();
    this.#owner = tenant;
    this.#isSigned = true;
    if (bytes <= bodyLimits.smallRawBytes) return;
    this.#place = this.#server.signed.tryEnter({ tenant, cost: bytes });
    if (this.#place === undefined) throw this.#noRoom(tooManyBodies, false);
    this.#placeBytes = bytes;
  }

  #ofPodOf(tenant: string): void {
    const [raw, parsed] = [this.#heldBytes, this.#placeBytes];
    this.dropBody();
    this.#owner = tenant;
    if (!this.hold(raw)) throw tooManyBodies();
    if (parsed === 0) return;
    this.#place = this.#memory.parsed.tryEnter({ tenant, cost: parsed });
    if (this.#place === undefined) throw tooManyBodies();
    this.#placeBytes = parsed;
  }

  dropBody(): void {
    this.#giveRaw();
    this.#giveBack();
  }

  hold(bytes: number): boolean {
    const before = this.#heldBytes;
    this.#heldBytes += bytes;
    return this.#memory.raw.take(this.#owner, bytes, before);
  }

  async reserve(bytes: number): Promise<void> {
    this.#giveBack();
    if (bytes <= bodyLimits.smallParsedBytes) return;
    this.#place = await this.#enter(this.#memory.parsed, bytes, tooManyBodies);
    this.#placeBytes = bytes;
    // It ended while it waited: no other code gives the place back.
    if (this.#hasLeft) this.#giveBack();
  }

  answer(bytes: number): Promise<void> | undefined {
    if (this.#isSigned) return this.#answerSigned(bytes);
    if (bytes <= Math.max(this.#placeBytes, bodyLimits.smallParsedBytes)) return undefined;
    this.#giveBack();
    this.#place = this.#memory.parsed.tryEnter({ tenant: this.#owner, cost: bytes });
    if (this.#place === undefined) throw tooManyAnswers();
    this.#placeBytes = bytes;
    return undefined;
  }

  async #answerSigned(bytes: number): Promise<void> {
    // Its body is not looked at any more.
    this.#giveBack();
    if (bytes <= bodyLimits.smallParsedBytes) return;
    this.#place = await this.#enterSigned(bytes);
    this.#placeBytes = bytes;
  }

  async #enterSigned(bytes: number): Promise<Place> {
    const { signed, signedWaiting } = this.#server;
    // A tenant that holds nothing would get more than its share.
    if (bytes > signed.share) throw tenantShareUsed(signed.share, true);
    const entry = { tenant: this.#owner, cost: bytes };
    const place = signed.tryEnter(entry);
    if (place !== undefined) return place;
    // A pool takes more than it has as all of it.
    using wait = bytes <= signedWaiting.share ? signedWaiting.tryEnter(entry) : undefined;
    if (wait === undefined) throw this.#noRoom(tooManyAnswers, true);
    return await this.#enter(signed, bytes, () => this.#noRoom(tooManyAnswers, true));
  }

  /** The tenant's own doing, or that of the others. */
  #noRoom(ofOthers: () => Error, hasRun: boolean): Error {
    const { signed } = this.#server;
    return signed.heldBy(this.#owner) > 0 ? tenantShareUsed(signed.share, hasRun) : ofOthers();
  }

  get isLarge(): boolean {
    return this.#place !== undefined;
  }

  async #enter(pool: FairPool, cost: number, refusal: () => Error): Promise<Place> {
    const entry = { tenant: this.#owner, cost };
    const place = pool.tryEnter(entry);
    if (place !== undefined) return place;
    using patience = startDeadline(this.#server.clock, bodyLimits.waitMs, this.signal);
    return await pool.enter({ ...entry, signal: patience.signal }).catch(() => {
      throw refusal();
    });
  }

  get #memory(): ServerState['memory'][Access] {
    return this.#server.memory[this.#access];
  }

  #giveRaw(): void {
    this.#memory.raw.give(this.#owner, this.#heldBytes);
    this.#heldBytes = 0;
  }

  #giveBack(): void {
    this.#place?.leave();
    this.#place = undefined;
    this.#placeBytes = 0;
  }

  /** Drops its references, so that it keeps no object alive. */
  leave(): void {
    this.dropBody();
    this.#stream?.leave();
    this.#hasLeft = true;
    this.#over?.abort();
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }
}

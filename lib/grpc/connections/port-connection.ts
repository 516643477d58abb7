import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';
import type { ConnectionShares, CountedConnection } from '../../connection-shares.ts';

const bySession = new WeakMap<Http2Session, PortConnection>();
/** Calls that are under way, with their connections: a stream that is over has no session. */
const byStream = new WeakMap<ServerHttp2Stream, PortConnection>();

/** Calls at a time over one connection. */
interface CallBounds {
  /** Before any has proved who makes it. */
  readonly first: number;
  /** However many have. */
  readonly most: number;
}

interface PortConnectionDeps {
  readonly clock: Clock;
  readonly shares: ConnectionShares;
  readonly calls: CallBounds;
}

/** A connection of a peer that is no trusted proxy. */
export class PortConnection implements CountedConnection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #shares: ConnectionShares;
  readonly #calls: CallBounds;
  #session: Http2Session | undefined;
  #underWay = 0;
  /** Calls that have proved who makes them. */
  #known: Set<ServerHttp2Stream> | undefined;
  #isOfClient = false;
  #idleAt: number;
  #isEnding = false;
  #leave: (() => void) | undefined;

  static of(session: Http2Session): PortConnection | undefined {
    return bySession.get(session);
  }

  /** The caller of the stream has proved who it is: the connection counts no more as one of a stranger until the stream is over. */
  static vouch(stream: ServerHttp2Stream): void {
    byStream.get(stream)?.noteKnown(stream);
  }

  constructor(socket: Socket, { clock, shares, calls }: PortConnectionDeps) {
    this.#socket = socket;
    this.#clock = clock;
    this.#shares = shares;
    this.#calls = calls;
    this.#idleAt = clock.steadyMs();
  }

  idleSince(): number | undefined {
    return this.#underWay === 0 ? this.#idleAt : undefined;
  }

  /** False: there is none now. */
  takePlace(): boolean {
    this.#leave = this.#shares.tryEnter(this.#socket.remoteAddress ?? '', this);
    return this.#leave !== undefined;
  }

  /** False: it got none. Never rejects. */
  async awaitPlace(signal: AbortSignal): Promise<boolean> {
    // It says nothing meanwhile because it is not read.
    this.#idleAt = Number.POSITIVE_INFINITY;
    const leave = await this.#shares.enter(this.#socket.remoteAddress ?? '', this, signal).catch(() => undefined);
    this.#idleAt = this.#clock.steadyMs();
    this.#leave = leave;
    if (this.#socket.destroyed) this.close();
    return this.#leave !== undefined;
  }

  /** `isOfClient`: our authorities have signed the certificate of the peer. */
  begin(session: Http2Session, isOfClient: boolean): void {
    this.#session = session;
    this.#isOfClient = isOfClient;
    bySession.set(session, this);
    if (isOfClient) this.#giveBack();
  }

  count(stream: ServerHttp2Stream): void {
    this.#underWay += 1;
    byStream.set(stream, this);
    // The same function for all streams, and no closure of each.
    stream.once('close', countOff);
  }

  close(): void {
    this.#giveBack();
    this.#socket.destroy();
  }

  /** Says goodbye where it has been without a call since then, and breaks off at the next look. */
  closeIdle(latest: number): void {
    if (this.#isOfClient || this.#underWay > 0 || (this.#idleAt > latest && !this.#isEnding)) return;
    if (this.#isEnding || this.#session === undefined) return this.close();
    this.#isEnding = true;
    this.#session.close();
  }

  noteKnown(stream: ServerHttp2Stream): void {
    this.#known ??= new Set();
    this.#known.add(stream);
    this.#giveBack();
    this.#admitMore(this.#known.size);
  }

  /** A client may carry the streams of many hosts over one connection. Few proofs are an announcement each: most daemons have one stream. */
  #admitMore(known: number): void {
    const { first, most } = this.#calls;
    if (2 * known < first || !Number.isInteger(Math.log2(known))) return;
    this.#session?.settings({ maxConcurrentStreams: Math.min(first + 2 * known, most) });
  }

  /** The stream is over. */
  countOff(stream: ServerHttp2Stream): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#idleAt = this.#clock.steadyMs();
    if (this.#known?.delete(stream) !== true || this.#known.size > 0 || this.#socket.destroyed) return;
    this.#known = undefined;
    if (this.#isOfClient || this.takePlace()) return;
    // Its daemon connects anew, in its turn.
    this.#isEnding = true;
    this.#session?.close();
  }

  #giveBack(): void {
    this.#leave?.();
    this.#leave = undefined;
  }
}

function countOff(this: ServerHttp2Stream): void {
  byStream.get(this)?.countOff(this);
  byStream.delete(this);
}

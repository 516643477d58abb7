import type { Metadata } from '@grpc/grpc-js';
import { messageOf } from '../../errors.ts';
import type { PoolPart } from '../../fair-pool.ts';
import { networkOf } from '../../network-of.ts';
import { GrpcError, type GrpcFailure, toGrpcFailure } from '../grpc-error.ts';
import { headerOf } from '../headers.ts';
import { grpcLimits } from '../limits.ts';
import type { ReceivedMessages } from './received-messages.ts';

/** The internals of a server call of grpc-js 1.14.7, as far as they count here. */
interface BaseCall {
  readonly stream: Pick<NodeJS.ReadableStream, 'pause' | 'resume' | 'once'> & { unshift(chunk: Buffer): void };
  readonly connectionInfo?: { readonly remoteAddress?: string | undefined };
  readonly metadata: Metadata;
  decoder: unknown;
  maxReceiveMessageSize: number;
  sendStatus(failure: GrpcFailure): void;
}

interface DecoderOptions {
  readonly received: ReceivedMessages;
  /** Bytes of one message at most, packed and unpacked. */
  readonly most: number;
  /** Whether a tenant pays for large messages. Else the whole request has the time and the place of one message. */
  readonly isShared: boolean;
  /** As for `listenGrpc`. */
  readonly clientOf?: ((address: string, forwarded: string | undefined) => string) | undefined;
}

/** Receives the news that the messages of a stream are read no further. */
interface Owner {
  interrupt(problem: Error): void;
}

/** Before each message: whether it is packed, and its size. */
const headerBytes = 5;
/** Zlib unpacks a byte to no more. */
const unpackingMost = 1_032;

/**
 * Cuts what a peer sends into messages. A large one begins when the tenant of the stream has room for the whole of it, in the
 * turn of the tenant; the peer is not read until then. It keeps the room until it is handled (`asked`), and no other message
 * of the stream begins before. A small one may always come: HTTP/2 lets a peer send as much before anybody reads.
 */
export class MessageDecoder {
  readonly #call: BaseCall;
  readonly #options: DecoderOptions;
  #most: number;
  #header: Buffer | undefined;
  #headed = 0;
  #message: Buffer | undefined;
  #filled = 0;
  #tenant: string | undefined;
  #owner: Owner | undefined;
  /** Ends the wait for room. */
  #waiting: AbortController | undefined;
  #part: PoolPart | undefined;
  /** The message that has the room is with its reader. */
  #isTaken = false;
  #isOver = false;

  static replaceIn(call: unknown, options: DecoderOptions): void {
    const base = call as BaseCall;
    const decoder = new MessageDecoder(base, options);
    base.decoder = decoder;
    base.maxReceiveMessageSize = options.most;
    if (!options.isShared) decoder.#arrive();
  }

  constructor(call: BaseCall, options: DecoderOptions) {
    this.#call = call;
    this.#options = options;
    this.#most = options.most;
  }

  /** Takes a place for a request of anybody, until all of it is here, or refuses it. */
  #arrive(): void {
    const { stream, connectionInfo, metadata } = this.#call;
    const { received, clientOf = networkOf } = this.#options;
    const { arriving, late } = received;
    const client = clientOf(connectionInfo?.remoteAddress ?? '', headerOf(metadata, 'x-forwarded-for'));
    this.#part = arriving.tryEnter({ tenant: client });
    if (this.#part === undefined) {
      this.#fail(new GrpcError('unavailable', 'too many requests of this network arrive at once; come back later'));
      return;
    }
    late.add(this);
    stream.once('end', () => {
      late.delete(this);
      this.#release();
    });
    stream.once('close', () => this.over());
  }

  /** Called by the package with all bytes of the call in their order. Throws where a message is larger than it may be. */
  write(chunk: Buffer): Buffer[] {
    const whole: Buffer[] = [];
    if (this.#isOver) return whole;
    let rest = chunk;
    while (rest.byteLength > 0 && !this.#isForLater(rest, whole)) {
      rest = rest.subarray(this.#message === undefined ? this.#takeHeader(rest) : this.#take(rest));
      const message = this.#finished();
      if (message !== undefined) whole.push(message);
    }
    if (rest.byteLength > 0) this.#putBack(rest);
    if (this.#isWithin) this.#options.received.late.add(this);
    return whole;
  }

  /** A large message is next, and has no room yet. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** The tenant that pays for large messages: none begins before. Each has `most` bytes at most from now on. */
  charge(tenant: string, most: number = this.#options.most): void {
    this.#tenant = tenant;
    this.#most = Math.min(most, this.#options.most);
    // The package unpacks no more than that.
    this.#call.maxReceiveMessageSize = this.#most;
    const [waiting, header] = [this.#waiting, this.#header];
    if (waiting === undefined || header === undefined) return;
    if (sizeIn(header) > this.#most) this.#fail(new GrpcError('limit_exceeded', this.#tooLarge(header)));
    else void this.#wait(waiting.signal);
  }

  /** The owner is given what ends the stream; else the call ends at once. */
  own(owner: Owner): void {
    this.#owner = owner;
  }

  /** The reader has a message, unpacked. */
  taken(bytes: number): void {
    if (!this.#options.isShared || this.#part === undefined || this.#message !== undefined) return;
    this.#part.shrinkTo(bytes);
    this.#isTaken = true;
  }

  /** The reader asks for the next one: it has handled the last one. */
  asked(): void {
    if (this.#isTaken) this.#release();
  }

  /** Nothing more is read. */
  over(): void {
    this.#isOver = true;
    this.#options.received.late.delete(this);
    this.#message = undefined;
    this.#waiting?.abort('over');
    this.#release();
  }

  onLate(): void {
    const within = this.#options.received.late.wholeMs / 1_000;
    this.#fail(new GrpcError('limit_exceeded', `a message did not arrive whole within ${within} s`));
  }

  /** It waits for room, or others of the stream are to be handled before. */
  #isForLater(rest: Buffer, whole: readonly Buffer[]): boolean {
    return this.#waiting !== undefined || (whole.length > 0 && !this.#isWholeAndSmall(rest));
  }

  /** A message has begun, and is read. */
  get #isWithin(): boolean {
    return this.#message !== undefined || (this.#headed > 0 && this.#waiting === undefined);
  }

  #release(): void {
    this.#part?.leave();
    this.#part = undefined;
    this.#isTaken = false;
  }

  #fail(problem: GrpcError): void {
    this.over();
    if (this.#owner === undefined) this.#call.sendStatus(toGrpcFailure(problem));
    else this.#owner.interrupt(problem);
  }

  /** The package reads on when the next message is asked for. */
  #putBack(rest: Buffer): void {
    this.#call.stream.pause();
    this.#call.stream.unshift(rest);
  }

  /** Between two messages. */
  #isWholeAndSmall(rest: Buffer): boolean {
    if (rest.byteLength < headerBytes) return false;
    const cost = this.#costOf(rest);
    return cost <= grpcLimits.smallBytes && rest.byteLength >= headerBytes + sizeIn(rest);
  }

  /** Bytes of the message with this header, as it comes and as it is unpacked. */
  #costOf(header: Buffer): number {
    const size = sizeIn(header);
    return header[0] === 0 ? size : size + 2 * Math.min(this.#most, size * unpackingMost);
  }

  /** Answers how many bytes it took. */
  #takeHeader(rest: Buffer): number {
    const header = (this.#header ??= Buffer.alloc(headerBytes));
    const count = rest.copy(header, this.#headed, 0, headerBytes - this.#headed);
    this.#headed += count;
    if (this.#headed < headerBytes) return count;
    if (sizeIn(header) > this.#most) throw new Error(this.#tooLarge(header));
    if (!this.#options.isShared && !this.#hasPlace(header)) throw new Error('too many large requests arrive at once');
    if (this.#hasRoom(header)) this.#begin(header);
    else this.#call.stream.pause();
    return count;
  }

  #tooLarge(header: Buffer): string {
    return `the message has ${sizeIn(header)} bytes; at most ${this.#most} are taken here`;
  }

  #begin(header: Buffer): void {
    this.#message = Buffer.allocUnsafe(headerBytes + sizeIn(header));
    this.#filled = header.copy(this.#message);
    this.#header = undefined;
    this.#headed = 0;
  }

  #take(rest: Buffer): number {
    const { byteLength } = this.#message ?? rest;
    const count = this.#message === undefined ? 0 : rest.copy(this.#message, this.#filled);
    this.#filled += count;
    return Math.min(count, byteLength);
  }

  #finished(): Buffer | undefined {
    const message = this.#message;
    if (message === undefined || this.#filled < message.byteLength) return undefined;
    this.#message = undefined;
    if (this.#options.isShared) this.#options.received.late.delete(this);
    return message;
  }

  /** A request of anybody that is large takes more places. */
  #hasPlace(header: Buffer): boolean {
    const parts = Math.floor(this.#costOf(header) / grpcLimits.smallBytes);
    return parts === 0 || this.#part?.growTo(1 + parts) === true;
  }

  /** False: it waits for room. */
  #hasRoom(header: Buffer): boolean {
    const { received, isShared } = this.#options;
    const cost = this.#costOf(header);
    if (!isShared || cost <= grpcLimits.smallBytes) return true;
    const tenant = this.#tenant;
    this.#part = tenant === undefined ? undefined : received.pool.tryEnter({ tenant, cost });
    if (this.#part !== undefined) return true;
    received.late.delete(this);
    this.#waiting = new AbortController();
    void this.#wait(this.#waiting.signal);
    return false;
  }

  /** Never rejects. */
  async #wait(signal: AbortSignal): Promise<void> {
    const header = this.#header;
    const tenant = this.#tenant;
    // `charge` comes back to it.
    if (header === undefined || tenant === undefined) return;
    try {
      const { pool } = this.#options.received;
      const part = await pool.enter({ tenant, cost: this.#costOf(header), signal });
      if (this.#isOver) return part.leave();
      this.#part = part;
      this.#waiting = undefined;
      this.#begin(header);
      this.#options.received.late.add(this);
      this.#call.stream.resume();
    } catch (error) {
      if (this.#isOver) return;
      const text = `there is no room for a message of ${sizeIn(header)} bytes: ${messageOf(error)}`;
      this.#fail(new GrpcError('unavailable', text, { cause: error }));
    }
  }
}

const sizeIn = (header: Buffer): number => header.readUInt32BE(1);

import { setImmediate } from 'node:timers';
import type { Clock } from '../../clock.ts';
import { GrpcError } from '../grpc-error.ts';
import { assertSized } from '../sized.ts';
import type { StreamLife } from './stream-life.ts';

/** Both directions of a stream of messages, as one side sees them. */
export interface MessagePipe<In, Out> {
  /**
   * The peer's messages, to be read once. A message is taken from the connection only when it is asked for: a peer that
   * sends faster is slowed down. Ends when the peer has said all; throws when the stream is over before.
   */
  readonly messages: AsyncIterable<In>;
  /**
   * Hands on the messages that are left, one after the other, as `messages` gives them. Resolves when the peer has said all; rejects
   * as they throw, and as `take` rejects. It waits for every message with the same promise: a message of a quiet stream leaves
   * nothing behind.
   */
  each(take: TakeMessage<In>): Promise<void>;
  /**
   * Resolves when the message has left for the connection: a peer that does not read leaves one message of each sender
   * here, whatever its size. Throws GrpcError `cancelled` when the stream is over, and
   * `limit_exceeded` when the peer has read nothing for `grpcLimits.sendMs`, which ends the stream.
   */
  send(message: Out): Promise<void>;
  /** Has the reader fail with this problem once it has read what is here, and in place of a wait; the first one counts. */
  interrupt(problem: Error): void;
}

/** The next message is handed on when the answer has resolved. */
type TakeMessage<In> = (message: In) => Promise<void>;

/** Common methods of the package's calls of both sides. */
interface MessageDuplex<Out> {
  read(): unknown;
  write(message: Out, onLeft: () => void): boolean;
  on(event: string, listener: (error: unknown) => void): unknown;
  off(event: string, listener: () => void): unknown;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
}

/** The same for all streams of an operation, so that no stream has functions of its own. */
export interface PipeDeps {
  readonly clock: Clock;
  readonly sendMs: number;
  /** Called with the call of a stream that has ended because its peer does not read. */
  readonly cut: (duplex: unknown) => void;
  /** Called with the call when a message was read. */
  readonly onRead: (duplex: unknown, message: unknown) => void;
  /** Called with the call when its reader asks for the next message: it has handled the last one. */
  readonly onAsk: (duplex: unknown) => void;
}

export function createMessagePipe<In, Out>(
  duplex: MessageDuplex<Out>,
  life: StreamLife,
  deps: PipeDeps,
): MessagePipe<In, Out> {
  return new Pipe<In, Out>(duplex, life, deps);
}

const nothing = (): void => undefined;

type Read<In> = IteratorResult<In, void> | Promise<IteratorResult<In, void>>;

interface Reader<In> {
  resolve(result: Read<In>): void;
  reject(error: unknown): void;
}

interface Waits<In> {
  wait(reader: Reader<In>): void;
}

interface Over {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Reads all messages. It is made once a stream, and has a frame only while a message is under way. */
class EachMessage<In> implements Reader<In> {
  readonly #pipe: Waits<In>;
  readonly #take: TakeMessage<In>;
  readonly #over: Over;

  constructor(pipe: Waits<In>, take: TakeMessage<In>, over: Over) {
    this.#pipe = pipe;
    this.#take = take;
    this.#over = over;
  }

  resolve(result: Read<In>): void {
    this.#handOn(result).catch((error: unknown) => this.reject(error));
  }

  reject(error: unknown): void {
    this.#over.reject(error);
  }

  async #handOn(result: Read<In>): Promise<void> {
    const { done, value } = await result;
    if (done === true) return this.#over.resolve();
    await this.#take(value);
    this.#pipe.wait(this);
  }
}

/**
 * A server holds thousands of pipes that wait. So the pipe is its own iterator, keeps no message that was read, as the
 * frame of a generator would, and waits without a frame.
 */
class Pipe<In, Out> implements MessagePipe<In, Out>, AsyncIterator<In, void>, AsyncIterable<In> {
  readonly #duplex: MessageDuplex<Out>;
  readonly #life: StreamLife;
  readonly #deps: PipeDeps;
  #isEnded = false;
  #problem: unknown;
  #interruption: Error | undefined;
  #reader: Reader<In> | undefined;

  constructor(duplex: MessageDuplex<Out>, life: StreamLife, deps: PipeDeps) {
    this.#duplex = duplex;
    this.#life = life;
    this.#deps = deps;
    const read = (): void => this.#read();
    duplex.on('readable', read);
    duplex.on('close', read);
    duplex.on('end', () => {
      this.#isEnded = true;
      read();
    });
    duplex.on('error', (error: unknown) => {
      this.#problem ??= error;
      read();
    });
    life.onEnd(read);
  }

  get messages(): AsyncIterable<In> {
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterator<In, void> {
    return this;
  }

  /** One at a time. */
  next(): Promise<IteratorResult<In, void>> {
    return new Promise((resolve, reject) => this.wait({ resolve, reject }));
  }

  each(take: TakeMessage<In>): Promise<void> {
    return new Promise((resolve, reject) => this.wait(new EachMessage(this, take, { resolve, reject })));
  }

  /** Gives the reader the next message. */
  wait(reader: Reader<In>): void {
    this.#deps.onAsk(this.#duplex);
    this.#reader = reader;
    this.#read();
  }

  interrupt(problem: Error): void {
    this.#interruption ??= problem;
    this.#read();
  }

  /** Gives the one who waits what is here. */
  #read(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    // To read may tell of news at once, which is no turn of its own.
    this.#reader = undefined;
    try {
      const result = this.#take();
      if (result === undefined) this.#reader = reader;
      else reader.resolve(result);
    } catch (error) {
      reader.reject(error);
    }
  }

  /** Undefined where the peer has said nothing more yet. */
  #take(): Read<In> | undefined {
    const message: unknown = this.#isEnded ? null : this.#duplex.read();
    if (message !== null) {
      this.#deps.onRead(this.#duplex, message);
      assertSized(message);
      // The method's definition says what its messages are.
      return { done: false, value: message as In };
    }
    if (this.#interruption !== undefined) throw this.#interruption;
    if (this.#isEnded) return this.#whole();
    this.#assertOpen();
    return undefined;
  }

  async send(message: Out): Promise<void> {
    this.#assertOpen();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let hasLeft = false;
    this.#duplex.write(message, () => {
      hasLeft = true;
      resolve();
    });
    // Nearly always it leaves at once: watching over each message would cost more than the message.
    setImmediate(() => {
      if (!hasLeft) this.#left(promise).catch(reject);
    });
    await promise;
  }

  /** Node tells the end of what a peer has sent before it tells that the connection is lost. */
  async #whole(): Promise<IteratorResult<In, void>> {
    await this.#deps.clock.sleep(0);
    if (this.#problem !== undefined || this.#life.isOver) throw this.#ended();
    return { done: true, value: undefined };
  }

  async #left(leaving: Promise<void>): Promise<void> {
    const { clock, sendMs, cut } = this.#deps;
    const { signal } = this.#life;
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<'left' | 'over'>();
    const end = (): void => resolve('over');
    void leaving.then(() => resolve('left'), nothing);
    this.#duplex.on('close', end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted || this.#duplex.destroyed) end();
    const outcome = await Promise.race([promise, clock.sleep(sendMs, over.signal).then(() => 'late' as const)]);
    over.abort();
    this.#duplex.off('close', end);
    signal.removeEventListener('abort', end);
    if (outcome === 'left') return;
    if (outcome === 'over') throw this.#ended();
    this.#life.end();
    cut(this.#duplex);
    throw new GrpcError('limit_exceeded', `the peer has read nothing for ${sendMs / 1_000} s`);
  }

  #assertOpen(): void {
    const { destroyed, writableEnded } = this.#duplex;
    if (this.#problem !== undefined || this.#life.isOver || destroyed || writableEnded) throw this.#ended();
  }

  #ended(): unknown {
    return this.#problem ?? new GrpcError('cancelled', 'the stream is over');
  }
}

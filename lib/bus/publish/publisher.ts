import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { type Clock, sleepAwake } from '../../clock.ts';
import { errorCodes, StreamRefusal } from '../bus-error.ts';

/** A message for a stream. */
export interface Message {
  readonly subject: string;
  readonly body: string | Uint8Array;
  /** Values by name; they hold no line break. */
  readonly headers: Record<string, string[]>;
}

/** For a message without headers. */
export const noHeaders: Message['headers'] = {};

/** Publishes to streams over one connection. */
export interface Publisher {
  /**
   * Resolves to the message's sequence number once a stream has stored it. Rejects with StreamRefusal where the server
   * says no, and with another Error where it says nothing in time or the connection ends. The latter leaves open
   * whether the message was stored.
   */
  publish(message: Message): Promise<number>;
  /** The same for a request to the server, whose answer it resolves to. */
  ask(message: Message): Promise<Msg>;
  /** Publishes in its order with the others, and asks for no answer: a message that is lost, or refused, is lost. */
  tell(message: Message): void;
  /** Writes what waits for others at once: the connection is about to end. */
  flush(): void;
}

interface PublisherDeps {
  readonly connection: Pick<NatsConnection, 'publish' | 'subscribe' | 'close' | 'closed'>;
  readonly clock: Clock;
  /** A subject for answers that is unique to this process. */
  readonly inbox: string;
  /** Headers as the library wants them. */
  readonly toHeaders: (headers: Message['headers']) => MsgHdrs;
  /** How long the server has to answer. */
  readonly timeoutMs: number;
}

/**
 * Messages that follow a write so soon share the next one. One that comes alone is written at once. A signed call makes
 * three or four messages one after the other, so that a longer pause would be most of its time.
 */
const gatherMs = 1;

/**
 * All answers come to one inbox, each under the number of its message, and one timer watches over all (ADR 0032). A
 * request of the library has a timer, a race and an error of its own. Together they cost more than everything else
 * about a message.
 */
export function createPublisher(deps: PublisherDeps): Publisher {
  return new InboxPublisher(deps);
}

interface Outgoing extends Message {
  /** Undefined where no answer is wanted. */
  readonly number?: string;
}

interface Unanswered {
  readonly resolve: (answer: Msg) => void;
  readonly reject: (error: unknown) => void;
  /** In milliseconds of the steady clock. */
  readonly end: number;
}

class InboxPublisher implements Publisher {
  readonly #deps: PublisherDeps;
  /** By number, the oldest first: all have the same time. */
  readonly #unanswered = new Map<string, Unanswered>();
  readonly #outgoing: Outgoing[] = [];
  readonly #closed = new AbortController();
  #published = 0;
  #isWriting = false;
  #isWatching = false;

  constructor(deps: PublisherDeps) {
    const { connection, inbox } = deps;
    this.#deps = deps;
    connection.subscribe(`${inbox}.*`, {
      callback: (error, answer) => (error === null ? this.#take(answer) : this.#giveUp(error)),
    });
    void connection.closed().then(() => {
      this.#closed.abort();
      this.#fail(new Error('the connection was closed'));
    });
  }

  async publish(message: Message): Promise<number> {
    return sequenceOf(await this.ask(message));
  }

  ask(message: Message): Promise<Msg> {
    const { clock, timeoutMs } = this.#deps;
    this.#published += 1;
    const number = String(this.#published);
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    this.#unanswered.set(number, { resolve, reject, end: clock.steadyMs() + timeoutMs });
    this.#enqueue({ ...message, number });
    if (!this.#isWatching) void this.#watch();
    return promise;
  }

  tell(message: Message): void {
    this.#enqueue(message);
  }

  flush(): void {
    for (const message of this.#outgoing.splice(0)) this.#send(message);
  }

  #enqueue(message: Outgoing): void {
    this.#outgoing.push(message);
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // Messages that are published in the same tick share the write.
    await Promise.resolve();
    const { clock } = this.#deps;
    while (this.#outgoing.length > 0) {
      this.flush();
      await clock.sleep(gatherMs, this.#closed.signal);
    }
    this.#isWriting = false;
  }

  /** The library writes in one what it is given in one breath. */
  #send({ number, subject, body, headers }: Outgoing): void {
    const { connection, inbox, toHeaders } = this.#deps;
    const reply = number === undefined ? {} : { reply: `${inbox}.${number}` };
    // The server reads a message without headers with less.
    const some = headers === noHeaders ? {} : { headers: toHeaders(headers) };
    try {
      connection.publish(subject, body, { ...reply, ...some });
    } catch (error) {
      // Larger than the connection takes, or the connection is gone.
      if (number === undefined) return;
      this.#unanswered.get(number)?.reject(error);
      this.#unanswered.delete(number);
    }
  }

  #take(answer: Msg): void {
    const number = answer.subject.slice(this.#deps.inbox.length + 1);
    const asked = this.#unanswered.get(number);
    if (asked === undefined) return;
    this.#unanswered.delete(number);
    if (answer.headers?.code === noResponders) asked.reject(noStream());
    else asked.resolve(answer);
  }

  /** Until everything is answered: gives up on what is not in its time. */
  async #watch(): Promise<void> {
    const { clock, timeoutMs } = this.#deps;
    this.#isWatching = true;
    for (const [number, { end, reject }] of this.#unanswered) {
      // A message answered meanwhile is gone from the map, and a new one is visited later.
      if (end > clock.steadyMs()) await sleepAwake(clock, end - clock.steadyMs(), this.#closed.signal);
      if (this.#unanswered.delete(number)) reject(new Error(`no answer within ${timeoutMs} ms`));
    }
    this.#isWatching = false;
  }

  /** The server took the inbox away, and with it every answer: another connection may fare better. */
  #giveUp(error: Error): void {
    this.#fail(error);
    void this.#deps.connection.close();
  }

  #fail(error: Error): void {
    for (const { reject } of this.#unanswered.values()) reject(error);
    this.#unanswered.clear();
  }
}

/** As the server writes it. */
interface Acknowledgement {
  readonly seq?: number;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** The answer to a request whose subject has no server; it has no body. */
const noResponders = 503;

const noStream = (): StreamRefusal => new StreamRefusal(errorCodes.streamNotFound, 'no stream takes the subject');

function sequenceOf(answer: Msg): number {
  const { seq, error } = acknowledgementIn(answer);
  if (error !== undefined) throw new StreamRefusal(error.err_code, error.description ?? 'refused');
  if (seq === undefined) throw new Error('the server acknowledged nothing');
  return seq;
}

function acknowledgementIn(answer: Msg): Acknowledgement {
  try {
    const found = answer.json<Acknowledgement | null>();
    if (found !== null) return found;
  } catch (cause) {
    throw new Error('the server answered something else than an acknowledgement', { cause });
  }
  throw new Error('the server answered something else than an acknowledgement');
}

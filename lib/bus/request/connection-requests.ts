import type { Msg, MsgHdrs, NatsConnection, Payload } from '@nats-io/transport-node';
import { type Message, noHeaders, type Publisher } from '../publish/publisher.ts';

/** Requests over one connection. */
export interface ConnectionRequests {
  /** Rejects with the library's errors: RequestError for a subject that no process serves, TimeoutError. */
  ask(subject: string, question: RequestMessage): Promise<Msg>;
  askAll(subject: string, question: RequestMessage & { readonly expected?: number }): Promise<Msg[]>;
  /** Publishes without an answer. */
  tell(subject: string, body: Payload): void;
  /** Resolves once the server knows of the subscription. */
  serve(subject: string, queue: string | undefined, take: (message: Msg) => void): Promise<Served>;
  /**
   * Answers a request, in one write with other messages of the moment. Nothing is said to a caller that asked for no
   * answer, nor over a connection that has ended. The caller's time ends without an answer, as with every lost one.
   */
  answer(question: Pick<Msg, 'reply'>, body: string | Uint8Array, headers?: Message['headers']): void;
}

interface RequestMessage {
  readonly body: Payload;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
}

interface Served {
  /** Takes what the server had sent before it heard of the end, and resolves. Never rejects. */
  stop(): Promise<void>;
}

interface ConnectionRequestsDeps {
  readonly connection: Pick<NatsConnection, 'request' | 'requestMany' | 'subscribe' | 'flush' | 'publish'>;
  readonly publisher: Pick<Publisher, 'tell'>;
  /** Headers as the library wants them. */
  readonly toHeaders: (values: Record<string, string>) => MsgHdrs;
}

export function createConnectionRequests({
  connection,
  publisher,
  toHeaders,
}: ConnectionRequestsDeps): ConnectionRequests {
  return {
    answer({ reply: subject = '' }, body, headers = noHeaders) {
      if (subject !== '') publisher.tell({ subject, body, headers });
    },
    ask: (subject, { body, headers, timeoutMs }) =>
      connection.request(subject, body, { timeout: timeoutMs, headers: toHeaders(headers) }),
    async askAll(subject, { body, headers, timeoutMs, expected }) {
      const answers = await connection.requestMany(subject, body, {
        ...(expected === undefined ? { strategy: 'timer' } : { strategy: 'count', maxMessages: expected }),
        maxWait: timeoutMs,
        headers: toHeaders(headers),
      });
      const found: Msg[] = [];
      for await (const answer of answers) found.push(answer);
      return found;
    },
    tell: (subject, body) => connection.publish(subject, body),
    async serve(subject, queue, take) {
      const subscription = connection.subscribe(subject, {
        ...(queue === undefined ? {} : { queue }),
        callback: (error, message) => (error === null ? take(message) : undefined),
      });
      await connection.flush();
      // Unsubscribed at once, a request that is on its way would be dropped, and its caller would wait in vain.
      return { stop: () => subscription.drain().catch(() => undefined) };
    },
  };
}

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request that a provider was sent. */
export interface SentRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

export type Answer = (response: ServerResponse, request: SentRequest) => void;

/** An HTTP server on loopback that answers as a test says. */
export interface ModelServer {
  readonly url: string;
  /** Everything that was sent, in order. */
  readonly requests: SentRequest[];
  /** Answers in turn; the last one answers whatever comes after. */
  answerWith(...answers: readonly Answer[]): void;
  /** Resolves when so many requests have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function openModelServer(): Promise<ModelServer> {
  const requests: SentRequest[] = [];
  const waiting = new Set<() => void>();
  let answers: readonly Answer[] = [];
  let answered = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      // A connection that is used again could be closed by the time limit of the server, on a busy machine.
      response.setHeader('connection', 'close');
      const sent = {
        url: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>,
      };
      requests.push(sent);
      const answer = answers[Math.min(answered, answers.length - 1)];
      answered += 1;
      answer?.(response, sent);
      for (const wake of waiting) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith(...next) {
      answers = next;
      answered = 0;
      requests.length = 0;
    },
    async came(count) {
      while (requests.length < count) {
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
        });
        waiting.clear();
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A refusal, with the body and the headers that it is given. */
export const refuse =
  (status: number, body: unknown = { error: { message: 'no' } }, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** Breaks the connection before anything is answered. */
export const hangUp: Answer = (response) => void response.destroy();

/** Says nothing at all. */
export const keepSilent: Answer = () => undefined;

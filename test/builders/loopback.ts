import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as a script answers it; `body` is what it carried. */
export type Answer = (request: IncomingMessage & { readonly body: string }, response: ServerResponse) => void;

/** A real HTTP server on loopback that answers the first request with the first answer, and so on. */
export interface Loopback {
  readonly url: string;
  readonly requests: readonly (IncomingMessage & { readonly body: string })[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts one. A request beyond the last answer gets that answer again. */
export async function loopback(...answers: readonly Answer[]): Promise<Loopback> {
  const requests: (IncomingMessage & { readonly body: string })[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const asked = Object.assign(request, { body });
      requests.push(asked);
      answers[Math.min(requests.length, answers.length) - 1]?.(asked, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with JSON. */
export function answerJson(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

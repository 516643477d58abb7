import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider of models of this process that answers on request of the test. */
export interface PacedModel {
  readonly url: string;
  /** The next request, or the first that no call has taken yet. */
  next(): Promise<PacedReply>;
  close(): Promise<void>;
}

interface PacedReply {
  say(text: string): void;
  /** Calls a tool, and ends. */
  call(name: string): void;
  end(): void;
}

/** Speaks OpenAI's protocol of streamed completions. */
export async function startPacedModel(): Promise<PacedModel> {
  const waiting: PacedReply[] = [];
  const takers: ((reply: PacedReply) => void)[] = [];
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const reply = replyOn(response);
      const take = takers.shift();
      if (take === undefined) waiting.push(reply);
      else take(reply);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    next: () =>
      new Promise((resolve) => {
        const reply = waiting.shift();
        if (reply === undefined) takers.push(resolve);
        else resolve(reply);
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function replyOn(response: ServerResponse): PacedReply {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  const send = (delta: object, finish: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices })}\n\n`);
  };
  return {
    say: (content) => send({ content }),
    call(name) {
      const calls = [{ index: 0, id: 'call', type: 'function', function: { name, arguments: '{}' } }];
      send({ tool_calls: calls });
      send({}, 'tool_calls');
      response.end('data: [DONE]\n\n');
    },
    end() {
      send({}, 'stop');
      response.end('data: [DONE]\n\n');
    },
  };
}

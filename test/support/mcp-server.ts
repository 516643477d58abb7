import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, Server, type CallToolResult, type Tool } from '@modelcontextprotocol/server';

/** A server of the SDK over streamable HTTP on loopback. */
export interface TestMcpServer {
  readonly url: string;
  /** HTTP requests that it got. */
  readonly requests: readonly IncomingMessage[];
  /** Tools that were called. */
  readonly calls: readonly { readonly tool: string; readonly args: unknown }[];
  close(): Promise<void>;
}

interface TestMcpOptions {
  readonly tools: () => readonly Tool[];
  readonly call: (tool: string, args: Readonly<Record<string, unknown>>) => Promise<CallToolResult>;
  /** Tools of one page. */
  readonly perPage?: number;
}

export async function startTestMcpServer({ tools, call, perPage = 1_000 }: TestMcpOptions): Promise<TestMcpServer> {
  const requests: IncomingMessage[] = [];
  const calls: { tool: string; args: unknown }[] = [];
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'notes', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => {
      const from = Number(params?.cursor ?? 0);
      const page = tools().slice(from, from + perPage);
      const isWhole = from + perPage >= tools().length;
      return { tools: page, ...(isWhole ? {} : { nextCursor: String(from + perPage) }) };
    });
    server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }) => {
      calls.push({ tool: name, args });
      return call(name, args);
    });
    return server;
  });
  const http = createServer((request, response) => {
    requests.push(request);
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const { method = 'GET' } = request;
    const init = { method, headers, ...(method === 'POST' ? { body } : {}) };
    const reply = await handler.fetch(new Request('http://peer/mcp', init));
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    response.end(Buffer.from(await reply.arrayBuffer()));
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    calls,
    async close() {
      await handler.close();
      http.closeAllConnections();
      http.close();
    },
  };
}

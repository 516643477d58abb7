import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createMcpServers, type McpServerTool, mcpLimits } from '../../lib/mcp/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { createLargeAnswers } from '../../lib/tools/web/answer-room.ts';
import { silentLogger } from '../support/silent-logger.ts';

/** An MCP server has a session for each tenant, and may ask in its streams: what it says must not add up in the gateway. */
type Message = { readonly id?: number | string; readonly method?: string };
type Act = (response: ServerResponse, message: Message) => void;

const ready = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '1' },
};
const done = { content: [{ type: 'text', text: 'done' }] };
const usual: Readonly<Record<string, Act>> = {
  initialize: (response, message) => reply(response, message, ready),
  'tools/list': (response, message) =>
    reply(response, message, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': (response, message) => reply(response, message, done),
};
let acts = usual;
/** Answers of ours to questions of the server. */
let replies = 0;
let peer: Server;
let url = '';
const stops: (() => Promise<void>)[] = [];

function reply(response: ServerResponse, { id }: Message, result: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

beforeAll(async () => {
  peer = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const message = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Message;
      const act = acts[message.method ?? ''];
      if (act !== undefined) return act(response, message);
      if (message.method === undefined) return void (replies += 1);
      if (message.id === undefined) return void response.writeHead(202).end();
      response.setHeader('content-type', 'application/json');
      const error = { code: -32_601, message: 'no' };
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`;
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  acts = usual;
  replies = 0;
});
afterAll(() => {
  peer.closeAllConnections();
  peer.close();
});

/** The tool of the server, once it is listed. */
async function echoTool(): Promise<McpServerTool> {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const entry = { name: 'notes', url, allow_internal_addresses: ['127.0.0.0/8'], capabilities: [], timeout_secs: 20 };
  const room = createLargeAnswers(systemClock);
  const servers = createMcpServers({ clock: systemClock, logger: silentLogger, resolve, room }, [entry]);
  const stop = new AbortController();
  const running = servers.run(stop.signal);
  stops.push(async () => {
    stop.abort();
    await running;
    await servers.close();
  });
  for (;;) {
    const [found] = [...servers.list('acme')];
    if (found !== undefined) return found;
    await systemClock.sleep(10);
  }
}

const heap = (): number => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const mebibyte = 1_024 * 1_024;
const { signal } = new AbortController();
const call = async (tool: McpServerTool, tenant: string): Promise<string> =>
  (await tool.call(tenant, {}, signal)).content;

describe('a session with a hostile MCP server', () => {
  it.each<[string, object, RegExp]>([
    ['a text of 4 MB', { instructions: 'x'.repeat(mcpLimits.responseBytes - 10_000) }, /more than 65536 bytes/],
    ['20,000 lists', { capabilities: { experimental: { x: { y: Array(20_000).fill([]) } } } }, /more than 1024 values/],
  ])('keeps nothing large of what the server says of itself: %s', async (_title, said, want) => {
    const tool = await echoTool();
    acts = { ...usual, initialize: (response, message) => reply(response, message, { ...ready, ...said }) };
    const before = heap();
    const answers = [];
    for (let tenant = 0; tenant < 12; tenant += 1) answers.push(await call(tool, `tenant-${tenant}`));
    await expect.poll(() => heap() - before, { timeout: 10_000 }).toBeLessThan(10 * mebibyte);
    expect(new Set(answers)).toEqual(new Set([expect.stringMatching(want)]));
  });

  it.each(['a b\tc', '"><script>', 'x'.repeat(8_000), '..%2f', '{}'])(
    'calls with an id of odd signs as with any other: %#',
    async (id) => {
      const seen: unknown[] = [];
      acts = {
        ...usual,
        initialize: (response, message) => reply(response.setHeader('mcp-session-id', id), message, ready),
        'tools/call': (response, message) => {
          seen.push(response.req.headers['mcp-session-id']);
          reply(response, message, done);
        },
      };
      expect(await call(await echoTool(), 'acme')).toBe('done');
      expect(seen).toEqual([id]);
    },
  );

  const ping = 'data: {"jsonrpc":"2.0","id":"q","method":"ping"}\n\n';
  const stream = { 'content-type': 'text/event-stream' };

  it('holds little for the questions of a server that takes no answer to them, and ends the call', async () => {
    const tool = await echoTool();
    await call(tool, 'acme');
    acts = { ...usual, 'tools/call': (response) => response.writeHead(200, stream).write(ping.repeat(8_000)) };
    const before = heap();
    expect(await call(tool, 'acme')).toBe(
      'NETWORK_ERROR: the MCP server notes failed: the server asks more questions than it takes answers; its outcome is unknown',
    );
    expect(heap() - before).toBeLessThan(10 * mebibyte);
    expect(replies).toBeLessThan(mcpLimits.requestsPerCall);
    acts = usual;
    expect(await call(tool, 'acme')).toBe('done');
  });

  it('answers many questions of a server one after the other', async () => {
    let ask = (): void => undefined;
    acts = {
      ...usual,
      'tools/call': (response, { id }) => {
        response.writeHead(200, stream).write(ping);
        ask = () => {
          if (replies < 40) response.write(ping);
          else response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: done })}\n\n`);
        };
      },
      // An answer of ours has no method.
      '': (response) => {
        replies += 1;
        response.writeHead(202).end();
        ask();
      },
    };
    expect(await call(await echoTool(), 'acme')).toBe('done');
    expect(replies).toBe(40);
  });

  it.each<[string, Act, RegExp]>([
    [
      'sends less than it says',
      (response) =>
        response.socket?.end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"id":1}',
        ),
      /^NETWORK_ERROR: .* the connection was closed before the answer was whole; its outcome is unknown$/,
    ],
    [
      'sends more than it says',
      (response, { id }) => {
        const text = JSON.stringify({ jsonrpc: '2.0', id, result: done });
        response.socket?.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}${text}`,
        );
      },
      /^done$/,
    ],
    [
      'says two lengths',
      (response) =>
        response.socket?.end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\ncontent-length: 9\r\n\r\n{}',
        ),
      /^NETWORK_ERROR: /,
    ],
  ])('ends in time where the server %s', async (_title, act, want) => {
    const tool = await echoTool();
    acts = { ...usual, 'tools/call': act };
    expect(await call(tool, 'acme')).toMatch(want);
  });
});

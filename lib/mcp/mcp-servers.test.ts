import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  connect as createConnectionTo,
  createServer as createTcpServer,
  type Socket,
} from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLargeAnswers } from '../tools/web/answer-room.ts';
import { startTestMcpServer, type TestMcpServer } from '../../test/support/mcp-server.ts';
import { systemClock } from '../clock.ts';
import { type McpServerEntry, Secret } from '../node-config/index.ts';
import { createMcpServers, mcpLimits, type McpServers, type McpServerTool } from './index.ts';

const canary = 'canary-key-"7\\';
const closers: (() => Promise<unknown> | void)[] = [];
const lines: string[] = [];
const logger = {
  warn: (...parts: unknown[]) => void lines.push(JSON.stringify(parts)),
  info: (...parts: unknown[]) => void lines.push(JSON.stringify(parts)),
};
let addresses = ['127.0.0.1'];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  lines.length = 0;
  addresses = ['127.0.0.1'];
});

const entry = (url: string, fields: Partial<McpServerEntry> = {}): McpServerEntry => ({
  name: 'notes',
  url,
  allow_internal_addresses: ['127.0.0.0/8'],
  capabilities: [],
  timeout_secs: 2,
  ...fields,
});

/** Servers that are followed until the end of the test. */
function follow(...entries: McpServerEntry[]): McpServers {
  const resolve = async () => addresses.map((address) => ({ address, family: 4 }));
  const servers = createMcpServers(
    { clock: systemClock, logger: logger as never, resolve, room: createLargeAnswers(systemClock) },
    entries,
  );
  const stop = new AbortController();
  const running = servers.run(stop.signal);
  closers.push(async () => {
    stop.abort();
    await running;
    await servers.close();
  });
  return servers;
}

async function tools(servers: McpServers, tenant: string | undefined = 'acme'): Promise<McpServerTool[]> {
  for (let wait = 0; wait < 200; wait += 1) {
    const found = [...servers.list(tenant)];
    if (found.length > 0) return found;
    await systemClock.sleep(20);
  }
  throw new Error(`nothing was listed: ${lines.join('\n')}`);
}

const names = (found: readonly { readonly name: string }[]): string[] => found.map(({ name }) => name);
const schema = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] };
const tool = (name: string, fields: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: schema,
  ...fields,
});
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const signal = (): AbortSignal => new AbortController().signal;

async function startNotes(fields: Partial<Parameters<typeof startTestMcpServer>[0]> = {}): Promise<TestMcpServer> {
  const server = await startTestMcpServer({
    tools: () => [tool('echo'), tool('fail')],
    call: async (name, args) => (name === 'fail' ? { ...text('no'), isError: true } : text(String(args['text']))),
    ...fields,
  });
  closers.push(() => server.close());
  return server;
}

describe('tools of an MCP server', () => {
  it('are listed with the name of the server before theirs, and called', async () => {
    const server = await startNotes();
    const servers = follow(entry(server.url, { capabilities: [{ name: 'echo', skip_judge: true }] }));
    expect([servers.isListed('acme', 'notes.echo'), servers.isListed('acme', 'orders.get')]).toEqual([false, true]);
    expect(await tools(servers)).toMatchObject([
      { name: 'notes.echo', description: 'Does echo.', input_schema: schema, skip_judge: true },
      { name: 'notes.fail', skip_judge: false },
    ]);
    expect([servers.isListed('acme', 'notes.none'), servers.isListed('acme', 'notes.echo')]).toEqual([true, true]);
    const echo = servers.find('acme', 'notes.echo');
    expect(await echo?.call('acme', { text: 'hello' }, signal())).toEqual({ content: 'hello', isError: false });
    const failed = await servers.find('acme', 'notes.fail')?.call('acme', { text: '' }, signal());
    expect(failed).toEqual({ content: 'no', isError: true });
    expect(server.calls).toEqual([
      { tool: 'echo', args: { text: 'hello' } },
      { tool: 'fail', args: { text: '' } },
    ]);
  });

  it('are seen by the tenants of the entry alone, and as its globs say', async () => {
    const server = await startNotes();
    const servers = follow(entry(server.url, { tenants: ['acme'], tools: ['e*'] }));
    expect(names(await tools(servers))).toEqual(['notes.echo']);
    expect([...servers.list('rival')]).toEqual([]);
    expect([...servers.list(undefined)]).toEqual([]);
    expect(servers.find('rival', 'notes.echo')).toBeUndefined();
    expect(servers.find(undefined, 'notes.echo')).toBeUndefined();
  });

  it('come from every page, up to the bounds of count, name, size and depth', async () => {
    let deep: object = {};
    for (let level = 0; level < 70; level += 1) deep = { properties: { a: deep } };
    const bad = [
      tool('has blanks'),
      tool('x'.repeat(65)),
      tool('large', { inputSchema: { ...schema, title: 'x'.repeat(mcpLimits.schemaBytes) } }),
      tool('deep', { inputSchema: { ...schema, ...deep } }),
      tool('t0'),
    ];
    const many = Array.from({ length: 200 }, (_, index) => tool(`t${index}`));
    const server = await startNotes({ tools: () => [...bad, ...many], perPage: 50 });
    const found = await tools(follow(entry(server.url)));
    expect(found).toHaveLength(mcpLimits.toolsPerServer);
    expect(names(found).slice(0, 2)).toEqual(['notes.t0', 'notes.t1']);
    expect(lines.join()).toContain(`"leftOut":${bad.length - 1 + 1 + 200 - mcpLimits.toolsPerServer}`);
  });

  it('keep the plain part of a schema that our validator does not take, such as a pattern that is a bomb', async () => {
    const properties = { text: { type: 'string', pattern: '(?=a)(a+)+$', 'x-own': 1 }, ref: { $ref: 'http://x/y' } };
    const server = await startNotes({ tools: () => [tool('bomb', { inputSchema: { ...schema, properties } })] });
    const [bomb] = await tools(follow(entry(server.url)));
    expect(bomb?.input_schema).toEqual({ ...schema, properties: { text: { type: 'string' }, ref: {} } });
  });

  it('show texts of every kind of content, and name the rest', async () => {
    const content = [
      { type: 'text' as const, text: 'one' },
      { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource' as const, resource: { uri: 'file:///a', text: 'two' } },
      { type: 'resource_link' as const, uri: 'file:///b', name: 'b' },
    ];
    const server = await startNotes({ call: async () => ({ content, structuredContent: { n: 1 } }) });
    const [echo] = await tools(follow(entry(server.url)));
    const answer = await echo?.call('acme', { text: '' }, signal());
    const shown = 'one\n[image image/png]\ntwo\n[link file:///b]';
    expect(answer).toEqual({ content: shown, structured: { n: 1 }, isError: false });
  });

  it.each([
    [
      'digits',
      '4711',
      { id: 1_471_199, text: 'id 4711.', other: 12 },
      { id: '[secret]', text: 'id [secret].', other: 12 },
    ],
    [
      'more digits than a number keeps',
      '12345678901234567890',
      { id: Number('12345678901234567890') },
      { id: '[secret]' },
    ],
    ['a word of JSON', 'true', { isNew: true, text: 'so true' }, { isNew: true, text: 'so [secret]' }],
    ['a sign of JSON', ',', { a: 1, b: 'x,y' }, { a: 1, b: 'x[secret]y' }],
  ])('with a key of %s get answers that can be read, without the key', async (_title, key, sent, read) => {
    const server = await startNotes({
      tools: () => [tool('echo')],
      call: async () => ({ ...text('x'), structuredContent: sent }),
    });
    const servers = follow(entry(server.url, { api_key: new Secret(key), api_key_header: 'X-Key' }));
    const [echo] = await tools(servers);
    expect(await echo?.call('acme', { text: '' }, signal())).toMatchObject({ structured: read });
  });

  it('get the key in their requests, and show it nowhere, not even where the server sends it back', async () => {
    const server = await startNotes({
      tools: () => [tool('echo', { description: `key ${canary}` })],
      call: async () => ({ ...text(`key ${canary}`), structuredContent: { key: canary } }),
    });
    const servers = follow(entry(server.url, { api_key: new Secret(canary), api_key_header: 'X-Key' }));
    const [echo] = await tools(servers);
    const answer = await echo?.call('acme', { text: '' }, signal());
    expect(new Set(server.requests.map(({ headers }) => headers['x-key']))).toEqual(new Set([canary]));
    expect(answer).toMatchObject({ content: 'key [secret]', structured: { key: '[secret]' } });
    const written = JSON.stringify(canary).slice(1, -1);
    expect(JSON.stringify([answer, echo]) + lines.join()).not.toContain(written);
  });

  it('have a session for each tenant', async () => {
    const server = await startNotes();
    const [echo] = await tools(follow(entry(server.url)));
    const before = server.requests.length;
    await echo?.call('acme', { text: 'a' }, signal());
    const opened = server.requests.length - before;
    await echo?.call('acme', { text: 'a' }, signal());
    expect(server.requests.length - before).toBe(opened + 1);
    await echo?.call('rival', { text: 'a' }, signal());
    expect(server.requests.length - before).toBe(opened * 2 + 1);
  });

  it('end with their caller', async () => {
    const server = await startNotes({ call: () => new Promise(() => undefined) });
    const [echo] = await tools(follow(entry(server.url)));
    const caller = new AbortController();
    const called = echo?.call('acme', { text: 'a' }, caller.signal);
    while (server.calls.length === 0) await systemClock.sleep(10);
    caller.abort(new Error('gone'));
    await expect(called).rejects.toThrow('gone');
  });
});

/** A peer that answers like a server, and one method as the test says. */
async function hostile(
  act: (response: ServerResponse, id: number) => void,
  method: 'initialize' | 'tools/list' | 'tools/call' = 'tools/call',
): Promise<string> {
  const listener: RequestListener = (request, response) => {
    void request.toArray().then((chunks) => {
      const body = Buffer.concat(chunks).toString();
      const message = body === '' ? {} : (JSON.parse(body) as { id?: number; method?: string });
      const result = results[message.method ?? ''];
      if (message.method === method) return act(response, message.id ?? 0);
      if (message.id === undefined) return void response.writeHead(202).end();
      response.setHeader('content-type', 'application/json');
      const reply = result === undefined ? { error: { code: -32_601, message: 'no' } } : { result };
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply }));
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'hostile', version: '1' },
  },
  'tools/list': { tools: [tool('echo')] },
};

/** A quarter of a gigabyte of blanks. */
const bomb = gzipSync(Buffer.alloc(256 * 1_024 * 1_024, ' '));
const sse = { 'content-type': 'text/event-stream' };
const big = `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"x":"${'x'.repeat(60_000)}"}}\n\n`;

const stray = 'data: {"jsonrpc":"2.0","id":99,"result":{"content":[]}}\n\n';

function drip(response: ServerResponse, piece: string): void {
  response.writeHead(200, sse);
  void (async () => {
    while (!response.destroyed) {
      response.write(piece);
      await systemClock.sleep(1);
    }
  })();
}

describe('a hostile MCP server', () => {
  /** JSON of so many levels. */
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const answer = (response: ServerResponse, id: number, result: string): void =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
  const keys = { 'a key': { api_key: new Secret(canary) }, 'no key': {} };

  it.each(Object.entries(keys))(
    'that answers a call with too many levels is named so, with %s',
    async (_key, fields) => {
      const url = await hostile((response, id) => answer(response, id, `{"content":[],"x":${nested(20_000)}}`));
      const [echo] = await tools(follow(entry(url, fields)));
      const ended = await echo?.call('acme', { text: 'a' }, signal());
      expect(ended?.content).toMatch(/the answer is nested deeper than 64 levels; its outcome is unknown$/);
    },
  );

  it.each(Object.entries(keys))(
    'that lists a tool with too many levels has the others, with %s',
    async (_key, fields) => {
      const rows = `[{"name":"deep","inputSchema":{"type":"object","x":${nested(20_000)}}},${JSON.stringify(tool('echo'))}]`;
      const url = await hostile((response, id) => answer(response, id, `{"tools":${rows}}`), 'tools/list');
      expect(names(await tools(follow(entry(url, fields))))).toEqual(['notes.echo']);
    },
  );

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['never answers', () => undefined, /^TIMEOUT: .* no answer came in time; its outcome is unknown$/],
    [
      'accepts a request as if it were a notification',
      (response) => response.writeHead(202).end(),
      /^NETWORK_ERROR: .* the server accepts the request with HTTP 202, and answers nothing; its outcome is unknown$/,
    ],
    ['drips comments for ever', (response) => drip(response, ': x\n\n'), /^TIMEOUT: /],
    ['sends an endless stream', (response) => drip(response, big), /^NETWORK_ERROR: .*more than 4194304 bytes/],
    [
      'sends too many lines of events',
      (response) => response.writeHead(200, sse).end(':\n'.repeat(20_000)),
      /^NETWORK_ERROR: .*more than 16384 lines of events; its outcome is unknown$/,
    ],
    [
      'ends its events before it answers',
      (response) => response.writeHead(200, sse).end(': x\n\n'),
      /^NETWORK_ERROR: .* the server ended its events before it answered; its outcome is unknown$/,
    ],
    [
      'breaks off in its events',
      (response) => response.writeHead(200, sse).write(': x\n\n', () => response.socket?.resetAndDestroy()),
      /^NETWORK_ERROR: .*the connection was (?:reset|closed)/,
    ],
    ['answers another question', (response) => response.writeHead(200, sse).end(stray), /^NETWORK_ERROR: .*ended its/],
    [
      'answers with a bomb',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
      },
      /^NETWORK_ERROR: .*more than 4194304 bytes/,
    ],
    [
      'redirects',
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      /^NETWORK_ERROR: .*redirect/,
    ],
    ['resets', (response) => response.socket?.resetAndDestroy(), /^NETWORK_ERROR: .*(?:reset|closed)/],
    ['is broken', (response) => response.writeHead(500).end(canary), /^NETWORK_ERROR: .*HTTP 500/],
    ['wants a key', (response) => response.writeHead(401).end(canary), /^NETWORK_ERROR: .*HTTP 401/],
    [
      'sends no JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(`{${canary}`),
      /^NETWORK_ERROR: .*no answer of the protocol came/,
    ],
    [
      'calls a batch a stream in a parameter of its type',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json; x="text/event-stream"' })
          .end(`[${'\n\n{"jsonrpc":"2.0","method":"canary"},'.repeat(100)}{}]`),
      /^NETWORK_ERROR: .*the answer is a batch/,
    ],
    [
      'sends a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(canary),
      /^NETWORK_ERROR: .*no answer of the protocol came/,
    ],
    [
      'sends 100,000 levels',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(
            `{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}}`,
          ),
      /^NETWORK_ERROR: /,
    ],
  ])('that %s gives its caller an answer, and none of its words', async (_title, act, want) => {
    const [echo] = await tools(follow(entry(await hostile(act), { api_key: new Secret(canary) })));
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const answer = await echo?.call('acme', { text: '' }, signal());
    expect(answer).toMatchObject({ isError: true, content: expect.stringMatching(want) });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * 1_024 * 1_024);
    expect(JSON.stringify(answer) + lines.join()).not.toContain('canary');
  });

  const done = (response: ServerResponse, id: number, value: string): void => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: text(value) }));
  };

  it('that has forgotten the session gets the call in another one', async () => {
    let calls = 0;
    const url = await hostile((response, id) => {
      calls += 1;
      return calls === 1 ? void response.writeHead(404).end() : done(response, id, 'again');
    });
    const [echo] = await tools(follow(entry(url)));
    expect(await echo?.call('acme', { text: '' }, signal())).toEqual({ content: 'again', isError: false });
    expect(calls).toBe(2);
  });

  it.each(['initialize', 'tools/list', 'tools/call'] as const)(
    'that repeats the key in an error of %s has it shown nowhere, nor a part of it where the words are cut',
    async (method) => {
      const error = { code: -32_001, message: `refused: ${`${canary} `.repeat(40)}` };
      const refuse = (response: ServerResponse, id: number): void => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      };
      const servers = follow(entry(await hostile(refuse, method), { api_key: new Secret(canary) }));
      const [echo] = method === 'tools/call' ? await tools(servers) : [];
      const answer = await echo?.call('acme', { text: '' }, signal());
      await vi.waitUntil(() => lines.length > 0);
      const shown = JSON.stringify(answer) + lines.join();
      expect(shown).toContain('refused: [secret] [secret]');
      expect(shown).not.toContain('cana');
    },
  );

  it('that breaks one call leaves the others of the session alone', async () => {
    const held: (() => void)[] = [];
    const url = await hostile((response, id) => {
      if (held.length > 0) return void response.socket?.resetAndDestroy();
      return void held.push(() => done(response, id, 'late'));
    });
    const [echo] = await tools(follow(entry(url, { timeout_secs: 10 })));
    const slow = echo?.call('acme', { text: 'slow' }, signal());
    while (held.length === 0) await systemClock.sleep(10);
    expect(await echo?.call('acme', { text: '' }, signal())).toMatchObject({ isError: true });
    held[0]?.();
    expect(await slow).toEqual({ content: 'late', isError: false });
  });

  it('keeps its tools while it is away, and is listed again', async () => {
    const sockets = new Set<Socket>();
    let isAway = false;
    const server = await startNotes();
    const target = new URL(server.url);
    const relay = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (isAway) return void socket.resetAndDestroy();
      const onward = createConnectionTo(Number(target.port));
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    });
    const servers = follow(entry(`http://127.0.0.1:${(relay.address() as AddressInfo).port}/mcp`));
    const [echo] = await tools(servers);
    isAway = true;
    for (const socket of sockets) socket.destroy();
    expect(await echo?.call('acme', { text: 'a' }, signal())).toMatchObject({ isError: true });
    isAway = false;
    expect(await echo?.call('acme', { text: 'a' }, signal())).toEqual({ content: 'a', isError: false });
    expect(names([...servers.list('acme')])).toEqual(['notes.echo', 'notes.fail']);
  });

  it('AMB-139 is not reached in networks that its entry does not open, by address, name or a name that rebinds', async () => {
    const server = await startNotes();
    const { port } = new URL(server.url);
    const closed = { allow_internal_addresses: [] };
    const hosts = ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'notes.example'];
    follow(...hosts.map((host, index) => entry(`http://${host}:${port}/mcp`, { ...closed, name: `n${index}` })));
    await systemClock.sleep(500);
    expect(server.requests).toHaveLength(0);
    expect(lines.filter((line) => line.includes('no public address'))).toHaveLength(hosts.length);

    const narrow = { allow_internal_addresses: ['127.0.0.1/32'] };
    const [echo] = await tools(follow(entry(`http://rebind.example:${port}/mcp`, narrow)));
    addresses = ['127.0.0.2'];
    await systemClock.sleep(50);
    // A connection that was made before serves one call; each other one needs a connection of its own.
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => echo?.call('acme', { text: '' }, signal())),
    );
    const refused = answers.filter((answer) => answer?.content.includes('no public address'));
    expect(refused.length).toBeGreaterThanOrEqual(7);
    expect(server.calls.length).toBeLessThanOrEqual(1);
  });
});

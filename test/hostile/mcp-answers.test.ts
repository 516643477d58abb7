import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createMcpServers, mcpLimits, type McpServers, type McpServerTool } from '../../lib/mcp/index.ts';
import type { AnswerRoom } from '../../lib/tools/web/answer-room.ts';
import { silentLogger } from '../support/silent-logger.ts';
import { restedTurnMs, turnMs, watchTurns } from './support/turns.ts';

const full = mcpLimits.responseBytes - 1_024;
const repeated = (text: string, bytes = full): string => text.repeat(Math.floor(bytes / text.length)).slice(0, -1);
const members = Array.from({ length: 300_000 }, (_, at) => `"k${at}":0`).join(',');
const inContent = (entries: string) => (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[${entries}]}}`;
const structured = (values: string) => (id: number) =>
  `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"a":[${values}]}}}`;

const answered = 'answered';
const isAnswered = new RegExp(`^${answered}$`);

/** Answers of JSON to one call, and the words with which the call fails, where it does. */
const answers: Readonly<Record<string, readonly [(id: number) => string, RegExp]>> = {
  'a million contents that are none': [inContent(repeated('{},')), /more than 4096 values near its top/],
  'as many contents as are taken, none of them one': [inContent(repeated('{},', 3 * 4_000)), isAnswered],
  'a hundred thousand texts': [inContent(repeated('{"type":"text","text":""},')), /more than 4096 values near/],
  'resources that are none': [inContent(repeated('{"type":"resource","resource":{}},')), /more than 4096 values near/],
  'members of the result': [
    (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],${members}}}`,
    /more than 4096 values near its top/,
  ],
  'a batch of messages': [
    () => `[${repeated('{"jsonrpc":"2.0","method":"notifications/x"},')}]`,
    /the answer is a batch/,
  ],
  'a million structured values': [structured(repeated('{},')), /more than 100000 values/],
  'as many structured values as are taken': [structured(repeated('{},', 3 * 49_000)), isAnswered],
  'a long text with the signs of JSON': [
    inContent(JSON.stringify({ type: 'text', text: '[{,"'.repeat(200_000) })),
    isAnswered,
  ],
};

/** Lines of an event stream without an answer to the call. */
const streams: Readonly<Record<string, string>> = {
  'empty events': 'data: {}\n\n',
  notifications: 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n',
  'requests to be answered': 'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n',
  'comments that seem to begin a text': ': "\rdata: {}\r\r',
  'one event of many values': `data: {"a":{"b":{"c":[${repeated('{},')}]}}}\n\n`,
};

interface Reply {
  readonly type: string;
  readonly text: string;
  /** Gets the response, which stays open. */
  readonly hold?: (response: ServerResponse) => void;
}
type Act = (id: number) => Reply;

let act: Act = () => ({ type: 'application/json', text: '' });
let list = '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}';
let lists = 0;
let peer: Server;
let url = '';
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  peer = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const body = Buffer.concat(chunks).toString();
      const { id, method = '' } = JSON.parse(body || '{}') as { id?: number | string; method?: string };
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'tools/call') {
        const { type, text, hold } = act(Number(id));
        response.writeHead(200, { 'content-type': type }).write(text);
        if (hold === undefined) response.end();
        else hold(response);
        return undefined;
      }
      if (method === 'tools/list') lists += 1;
      const result = { initialize: initialized, 'tools/list': list }[method];
      const reply = result === undefined ? '"error":{"code":-32601,"message":"no"}' : `"result":${result}`;
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${reply}}`);
    });
  });
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}/mcp`;
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(() => {
  peer.closeAllConnections();
  peer.close();
});

const initialized = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '1' },
});

/** Room that is counted: what is taken for whom, and whether it is given back. */
function countedRoom() {
  const taken: { tenant: string; cost: number; left: boolean }[] = [];
  const room: AnswerRoom = {
    of({ tenant, cost }) {
      const row = { tenant, cost, left: false };
      return {
        async grow() {
          if (!taken.includes(row)) taken.push(row);
        },
        keep: () => true,
        [Symbol.dispose]: () => void (row.left = true),
      };
    },
  };
  return { room, taken };
}

function follow({ room = countedRoom().room, seconds = 30 } = {}): McpServers {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const networks = { allow_internal_addresses: ['127.0.0.0/8'], capabilities: [], timeout_secs: seconds };
  const entry = { name: 'notes', url, ...networks };
  const servers = createMcpServers({ clock: systemClock, logger: silentLogger, resolve, room }, [entry]);
  const stop = new AbortController();
  const running = servers.run(stop.signal);
  stops.push(async () => {
    stop.abort();
    await running;
    await servers.close();
  });
  return servers;
}

async function listed(servers: McpServers): Promise<McpServerTool[]> {
  for (;;) {
    const found = [...servers.list('acme')];
    if (found.length > 0) return found;
    await systemClock.sleep(10);
  }
}

/** Thread CPU milliseconds of the longest turn, taken again beside a reference where it is not under the limit. */
async function turnOf(run: () => Promise<void>): Promise<number> {
  const turns = watchTurns();
  await run();
  await setImmediate();
  turns.stop();
  return turns.longestMs < turnMs ? turns.longestMs : restedTurnMs(run, turnMs);
}

const noSignal = new AbortController().signal;

describe('an MCP server that answers a call with what costs its reader more than itself', () => {
  const cases = [
    ...Object.entries(answers).map(([title, [text, want]]) => {
      const answer: Act = (id) => ({ type: 'application/json', text: text(id) });
      return { title, answer, want, seconds: 30 };
    }),
    ...Object.entries(streams).map(([title, lines]) => {
      const text = lines.repeat(Math.ceil(full / lines.length)).slice(0, full);
      const answer: Act = () => ({ type: 'text/event-stream', text });
      // A slow machine has not read as far when the time is up.
      const want =
        /^TIMEOUT: |^NETWORK_ERROR: .*(?: more than (?:16384 lines of events|100000 values)|it takes answers);/;
      return { title: `a stream of ${title}`, answer, want, seconds: 1 };
    }),
  ];

  it.each(cases)('does not hold the loop of the gateway with $title', async ({ answer, want, seconds }) => {
    const servers = follow({ seconds });
    const [echo] = await listed(servers);
    const shown: string[] = [];
    act = answer;
    const ms = await turnOf(async () => {
      const said = await echo?.call('acme', {}, noSignal);
      shown.push(said?.isError === true ? said.content : answered);
      await setImmediate();
    });
    expect(ms).toBeLessThan(turnMs);
    for (const one of shown) expect(one).toMatch(want);
  });

  it('has room of its tenant for a large answer, gives it back, and needs none for a small one', async () => {
    const { room, taken } = countedRoom();
    const [echo] = await listed(follow({ room }));
    act = (id) => ({ type: 'application/json', text: structured('0')(id) });
    expect(await echo?.call('acme', {}, noSignal)).toMatchObject({ isError: false });
    expect(taken).toEqual([]);
    act = (id) => ({
      type: 'application/json',
      text: inContent(`{"type":"text","text":"${'x'.repeat(full / 2)}"}`)(id),
    });
    expect(await echo?.call('acme', {}, noSignal)).toMatchObject({ isError: false });
    act = () => ({ type: 'application/json', text: `{"a":"${'x'.repeat(2 * full)}"}` });
    expect(await echo?.call('globex', {}, noSignal)).toMatchObject({ isError: true });
    await setImmediate();
    const cost = 3 * mcpLimits.responseBytes;
    expect(taken).toEqual([
      { tenant: 'acme', cost, left: true },
      { tenant: 'globex', cost, left: true },
    ]);
  });
});

describe('an MCP server that keeps its event streams open', () => {
  const type = 'text/event-stream';
  const large = `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"x":"${'x'.repeat(full / 2)}"}}\n\n`;
  const answerTo = (id: number): string => `data: ${inContent('')(id)}\n\n`;
  const closes = (response: ServerResponse): Promise<unknown> => once(response, 'close');

  it('holds room of a tenant for as long as a large message takes', async () => {
    const { room, taken } = countedRoom();
    const [echo] = await listed(follow({ room }));
    let answer = (): void => undefined;
    act = (id) => ({ type, text: large, hold: (response) => void (answer = () => response.end(answerTo(id))) });
    const called = echo?.call('acme', {}, noSignal);
    await vi.waitUntil(() => taken.some(({ left }) => left), { timeout: 10_000 });
    answer();
    expect(await called).toMatchObject({ isError: false });
    expect(taken).toEqual([{ tenant: 'acme', cost: 3 * mcpLimits.responseBytes, left: true }]);
  });

  it('holds no connection behind its answer', async () => {
    const [echo] = await listed(follow());
    let closed: Promise<unknown> | undefined;
    act = (id) => ({ type, text: answerTo(id), hold: (response) => void (closed = closes(response)) });
    expect(await echo?.call('acme', {}, noSignal)).toMatchObject({ isError: false });
    await closed;
  });

  it('holds no connection for a caller who has gone', async () => {
    const [echo] = await listed(follow());
    const { promise: held, resolve: hold } = Promise.withResolvers<ServerResponse>();
    act = () => ({ type, text: ': wait\n\n', hold });
    const caller = new AbortController();
    const called = echo?.call('acme', {}, caller.signal);
    const closed = closes(await held);
    caller.abort(new Error('gone'));
    await expect(called).rejects.toThrow('gone');
    await closed;
  });
});

describe('an MCP server that lists tools without end', () => {
  const tool = (name: string, schema = '') => `{"name":"${name}","inputSchema":{"type":"object"${schema}}}`;
  const page = (tools: readonly string[]): string => `{"tools":[${tools.join(',')}],"nextCursor":"more"}`;
  const usual = list;
  afterEach(() => {
    list = usual;
  });

  it('is asked for no more pages once so many tools were looked at', async () => {
    list = page(Array.from({ length: 3_000 }, (_, at) => tool(`t${at}`)));
    lists = 0;
    expect(await listed(follow())).toHaveLength(mcpLimits.toolsPerServer);
    expect(lists).toBe(2);
  });

  it('does not hold the loop of the gateway with as many large schemas as are taken', async () => {
    const values = repeated('{},', 700);
    const schema = `,"properties":{"a":{"enum":[${values}],"description":"${'x'.repeat(30_000)}"}}`;
    list = page(Array.from({ length: mcpLimits.toolsPerServer }, (_, at) => tool(`t${at}`, schema)));
    const ms = await turnOf(async () => {
      expect(await listed(follow())).toHaveLength(mcpLimits.toolsPerServer);
      for (const stop of stops.splice(0)) await stop();
    });
    expect(ms).toBeLessThan(turnMs);
  });
});

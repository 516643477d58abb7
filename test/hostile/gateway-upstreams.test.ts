import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../support/gateway-world.ts';
import { answerJson } from '../support/http-peer.ts';
import { type LaneAgent, laneKey, startAgent } from './support/signed-lane.ts';

/** Upstreams of tool workflows that do what they like, behind signed calls. The call's `id` says what. */
const key = laneKey();
const bomb = gzipSync(Buffer.alloc(256 * 1_024 * 1_024, ' '));
const responseBytes = 1_024 * 1_024;
const json = { 'content-type': 'application/json' };

function drip(response: ServerResponse, piece: string): void {
  response.writeHead(200, json);
  void (async () => {
    while (!response.destroyed) {
      response.write(piece);
      await systemClock.sleep(1);
    }
  })();
}

type Act = (response: ServerResponse) => void;

const acts: Readonly<Record<string, readonly [act: Act, reason: RegExp]>> = {
  'never answers': [() => undefined, /time/],
  'answers with headers and no body': [(response) => response.writeHead(200, json).flushHeaders(), /time/],
  'drips blanks for ever': [(response) => drip(response, ' '), /time/],
  'sends an endless list': [(response) => drip(response, `"${'x'.repeat(60_000)}",`), /large|bytes|time/],
  'answers with a bomb': [
    (response) => void response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
    /large|bytes/,
  ],
  'answers with a bomb in a bomb': [
    (response) => void response.writeHead(200, { ...json, 'content-encoding': 'gzip, gzip' }).end(gzipSync(bomb)),
    /packed/,
  ],
  'redirects into the cluster': [
    (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    /302/,
  ],
  'redirects for ever': [(response) => void response.writeHead(307, { location: '/orders' }).end(), /307/],
  'resets the connection': [(response) => void response.socket?.resetAndDestroy(), /reset|closed/],
  'resets in the middle': [
    (response) => {
      response.writeHead(200, { ...json, 'content-length': '1000' }).write('{"id":');
      void systemClock.sleep(20).then(() => response.socket?.resetAndDestroy());
    },
    /reset|closed|whole/,
  ],
  'says less than it sends': [
    (response) => void response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"id":"x"}'),
    /closed|whole|long/,
  ],
  'speaks no HTTP': [(response) => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'), /HTTP|the connection failed/],
  'sends 1 MB of headers': [
    (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\n${`x: ${'v'.repeat(999)}\r\n`.repeat(1_000)}\r\n{}`),
    /headers/,
  ],
  'sends 100,000 levels': [
    (response) => void response.writeHead(200, json).end('['.repeat(100_000) + ']'.repeat(100_000)),
    /deeper|JSON/,
  ],
  'sends 500,000 values': [
    (response) => void response.writeHead(200, json).end(`[${'1,'.repeat(500_000)}1]`),
    /values/,
  ],
  'sends Latin-1': [(response) => void response.writeHead(200, json).end(Buffer.from('{"id":"é"}', 'latin1')), /UTF-8/],
  'sends a page': [(response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), /JSON/],
  'is broken': [(response) => void response.writeHead(500).end('{"id":"x"}'), /500/],
};

/** Acts that end with the time of the step alone. */
const holdOn: ReadonlySet<string> = new Set([
  'never answers',
  'answers with headers and no body',
  'drips blanks for ever',
]);
const limits = { steps: 20, bodyBytes: 1_048_576, responseBytes, stepMs: 700, chainMs: 1_500 };
const patient = { stepMs: 300_000, chainMs: 300_000 };

function answer({ body }: { readonly body: string }, response: ServerResponse): void {
  const { id } = JSON.parse(body) as { id: string };
  const act = acts[id]?.[0];
  if (act === undefined) answerJson(response, 200, { id });
  else act(response);
}

let nats: TestBus;
let gateway: GatewayWorld;
let agent: LaneAgent;
let addresses = ['127.0.0.1'];

beforeAll(async () => {
  nats = await startTestBus();
  gateway = await startGatewayWorld({
    bus: nats.connect(),
    key,
    limits,
    resolve: async () => addresses.map((address) => ({ address, family: 4 })),
    answer,
  });
  agent = await startAgent(gateway, key);
});
afterAll(async () => {
  await gateway.close();
  await nats.stop();
});

describe('an upstream of a tool workflow', () => {
  it.each(Object.entries(acts))('AMB-126 GW-WF-31 that %s fails its step, in time', async (title, [, reason]) => {
    const before = {
      paths: gateway.upstreamPaths().length,
      events: gateway.events.length,
      rss: process.memoryUsage().rss,
    };
    const { status, content, isError } = await agent.call({ id: title });
    expect([status, isError]).toEqual([200, true]);
    expect(content).toMatch(/^step 'read' failed: /);
    expect(content).toMatch(reason);
    expect(process.memoryUsage().rss - before.rss).toBeLessThan(120 * 1_024 * 1_024);
    // One request and no more: nothing is followed, and nothing is tried again.
    expect(gateway.upstreamPaths().length - before.paths).toBe(1);
    const types = gateway.events.slice(before.events).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['WorkflowInvocationFailed', 'ToolInvocationCompleted']);
  });

  it('takes nothing from others: ordinary calls pass while 60 hostile ones are under way', async () => {
    // Their steps may last far longer than this test: those that hold on are under way until they are reset.
    const slow = await startGatewayWorld({ bus: nats.connect(), key, limits: { ...limits, ...patient }, answer });
    const attacker = await startAgent(slow, key);
    const other = await startAgent(slow, key, { tenant: 'globex' });
    const names = Object.keys(acts);
    let underWay = 60;
    const hostile = Array.from({ length: underWay }, (_, index) =>
      attacker.call({ id: names[index % names.length] ?? '' }).finally(() => {
        underWay -= 1;
      }),
    );
    await expect.poll(() => slow.upstreamPaths().length).toBeGreaterThan(0);
    for (let count = 0; count < 10; count += 1) {
      const { content } = await other.call({ id: `order-${count}` }, 'orders.shared');
      expect(JSON.parse(content)).toMatchObject({ result: { id: `order-${count}` } });
    }
    const holding = names.filter((name) => holdOn.has(name));
    expect(underWay).toBeGreaterThanOrEqual(holding.length * Math.floor(60 / names.length));
    while (underWay > 0) {
      slow.resetUpstream();
      await systemClock.sleep(20);
    }
    expect((await Promise.all(hostile)).every(({ isError }) => isError)).toBe(true);
    await slow.close();
  });

  it('AMB-139 whose name rebinds to an internal address is not reached', async () => {
    const named = await startGatewayWorld({
      bus: nats.connect(),
      key,
      resolve: async () => addresses.map((address) => ({ address, family: 4 })),
      host: 'shop.example',
    });
    const caller = await startAgent(named, key);
    expect(await caller.call({ id: 'a' })).toMatchObject({ isError: false });
    for (const address of ['169.254.169.254', '10.96.0.1', '192.168.1.1', '0.0.0.0']) {
      addresses = [address];
      named.resetUpstream();
      await systemClock.sleep(50);
      const { content, isError } = await caller.call({ id: address });
      expect([isError, content]).toEqual([true, expect.stringContaining('shop.example')]);
      expect(content).not.toContain(address);
    }
    expect(named.upstreamPaths()).toHaveLength(1);
    addresses = ['127.0.0.1'];
    await named.close();
  });
});

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { GatewayTool } from '../../gateway/tools/tool-source.ts';
import { bodyLimits } from '../../lib/http/body-limits.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { echoTool, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type LaneAgent, startAgent } from './support/signed-lane.ts';

/** The attacker holds a session of one tenant, and calls a tool that takes its time. */
const share = Math.floor((bodyLimits.signed * 4) / 5);
const largest = 2_097_152;

let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
});
afterAll(() => nats.stop());

let gateway: TestGateway;
let begun = 0;
let release: () => void;
let acme: LaneAgent;
let globex: LaneAgent;
/** Calls of the attacker that take its share but for less than one of them. */
let calls: Promise<Response>[];
beforeAll(async () => {
  const held = Promise.withResolvers<void>();
  release = held.resolve;
  const slow: GatewayTool = {
    ...echoTool('slow.call'),
    async call() {
      begun += 1;
      await held.promise;
      return { content: 'ok', structured: {}, isError: false };
    },
  };
  const quick: GatewayTool = {
    ...echoTool('quick.call'),
    call: async () => ({ content: 'ok', structured: {}, isError: false }),
  };
  gateway = await startTestGateway(nats.connect(), [slow, quick]);
  acme = await startAgent(gateway, gateway.key, { tenant: 'acme' });
  globex = await startAgent(gateway, gateway.key, { tenant: 'globex' });
  calls = await hold(share);
}, 120_000);
afterAll(async () => {
  release();
  await gateway.close();
});

/** A call whose body has so many bytes: fields that an envelope does not know are not looked at. */
function bodyOf(agent: LaneAgent, tool: string, bytes: number): string {
  const bare = agent.sign({ item: 'tea' }, tool).slice(0, -1);
  const padded = (pad: string): string => `${bare},"pad":"${pad}"}`;
  return padded('x'.repeat(bytes - padded('').length));
}

const post = (body: string): Promise<Response> => fetch(`${gateway.url}/v1/invoke`, { method: 'POST', body });

/** Calls of the attacker that are under way, with bodies of so many bytes together. */
async function hold(bytes: number): Promise<Promise<Response>[]> {
  const held: Promise<Response>[] = [];
  // One after another: bodies that are still read belong to no tenant yet, and have a bound of their own.
  while (held.length < Math.floor(bytes / largest)) {
    held.push(post(bodyOf(acme, 'slow.call', largest)));
    await vi.waitFor(() => expect(begun).toBe(held.length), { timeout: 20_000, interval: 5 });
  }
  return held;
}

describe('slow calls of one tenant with large bodies', { timeout: 120_000 }, () => {
  it.each([-1, 0])('are taken up to its share of bytes and %i', async (more) => {
    expect((await post(bodyOf(acme, 'quick.call', (share % largest) + more))).status).toBe(200);
  });

  it('are refused beyond its share, before anything runs; others are served all the while', async () => {
    const refused = await post(bodyOf(acme, 'slow.call', (share % largest) + 1));
    expect([refused.status, refused.headers.get('retry-after'), begun]).toEqual([429, '5', calls.length]);
    expect(await refused.json()).toMatchObject({
      jsonrpc: '2.0',
      error: { code: -32_000, message: expect.stringContaining(`at most ${share} bytes`) },
    });
    expect((await post(bodyOf(globex, 'quick.call', largest))).status).toBe(200);
    expect((await post(bodyOf(acme, 'quick.call', bodyLimits.smallRawBytes))).status).toBe(200);
  });

  it('give the share back when they end', async () => {
    release();
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await post(bodyOf(acme, 'quick.call', largest))).status).toBe(200);
  });
});

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLargeAnswers } from '../../../lib/tools/web/answer-room.ts';
import type { SecurityContextSpec } from '../../../crds/schema/security-context.ts';
import { createMcpSource } from '../../../gateway/tools/mcp-source.ts';
import { systemClock } from '../../../lib/clock.ts';
import { issueToken, type SealKey, signEnvelope } from '../../../lib/envelope/index.ts';
import { createMcpServers, type McpServers } from '../../../lib/mcp/index.ts';
import { readNodeConfig } from '../../../lib/node-config/index.ts';
import { startTestBus, type TestBus } from '../../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../../support/gateway-world.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import { installPeers, type Program, startProgram } from './mcp-peers.ts';

/** The reference server of the protocol, in a process of its own, behind the gateway's lane. */
const canary = 'canary-mcp-credential-9c41';
const key: SealKey = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
const agent = generateKeyPairSync('ed25519');
let security: SecurityContextSpec = {};
let nats: TestBus;
let gateway: GatewayWorld;
let everything: Program;
let servers: McpServers;
let token: string;
const stop = new AbortController();
let running: Promise<void>;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

beforeAll(async () => {
  const program = join(await installPeers(), '@modelcontextprotocol/server-everything/dist/index.js');
  const port = await freePort();
  const env = { PORT: String(port) };
  everything = await startProgram([program, 'streamableHttp'], { ready: /listening on port/, env });
  const entry = {
    name: 'everything',
    url: `http://127.0.0.1:${port}/mcp`,
    api_key: 'env:MCP_KEY',
    allow_internal_addresses: ['127.0.0.0/8'],
    timeout_secs: 2,
    capabilities: [{ name: 'echo', skip_judge: true }],
  };
  const file = JSON.stringify({ spec: { mcp_servers: [entry] } });
  const { mcp_servers: entries } = readNodeConfig(file, { MCP_KEY: canary }, undefined, { keysOf: 'mcp' });
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  servers = createMcpServers(
    { clock: systemClock, logger: silentLogger, resolve, room: createLargeAnswers(systemClock) },
    entries,
  );
  running = servers.run(stop.signal);
  nats = await startTestBus();
  gateway = await startGatewayWorld({
    bus: nats.connect(),
    key,
    sources: [createMcpSource(servers)],
    security: new Proxy({}, { get: (_target, name) => Reflect.get(security, name) }),
  });
  const now = Math.floor(Date.now() / 1_000);
  token = await issueToken(key, { jti: 't', scp: 'default', tenant_id: 'acme', iat: now, exp: now + 3_600 });
  await begin();
  while ([...servers.list('acme')].length === 0) await systemClock.sleep(50);
}, 300_000);
afterAll(async () => {
  stop.abort();
  await running;
  await servers.close();
  await gateway.close();
  await nats.stop();
  await everything.stop();
});

async function begin(): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/seal/sessions`, {
    method: 'POST',
    headers: { authorization: 'Bearer acme', 'content-type': 'application/json' },
    body: JSON.stringify({
      execution_id: 'run-1',
      agent_id: 'desk',
      security_context: 'default',
      public_key_b64: agent.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
      security_token: token,
    }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

interface Answer {
  readonly result?: { readonly content: readonly { readonly text: string }[]; readonly isError: boolean };
  readonly error?: { readonly code: number; readonly message: string };
}

async function invoke(tool: string, args: Readonly<Record<string, unknown>>): Promise<[number, Answer]> {
  const call = { executionId: 'run-1', token, tool, arguments: args, id: randomUUID(), now: Date.now() };
  const body = JSON.stringify(signEnvelope(agent.privateKey, call));
  const response = await fetch(`${gateway.url}/v1/invoke`, { method: 'POST', body });
  return [response.status, (await response.json()) as Answer];
}

describe('the reference server of the protocol behind the gateway', () => {
  it('AMB-196 TOOL-RULE-04 is part of the list of tools', async () => {
    const response = await fetch(`${gateway.url}/v1/tools?source=mcp`, { headers: { authorization: 'Bearer acme' } });
    const { items } = (await response.json()) as { items: { name: string; skip_judge: boolean }[] };
    expect(items).toContainEqual(expect.objectContaining({ name: 'everything.echo', source: 'mcp', skip_judge: true }));
    expect(items).toContainEqual(expect.objectContaining({ name: 'everything.get-sum', skip_judge: false }));
  });

  it('AMB-196 is called through the lane, with its two events', async () => {
    const before = gateway.events.length;
    expect(await invoke('everything.echo', { message: 'hello' })).toMatchObject([
      200,
      { result: { content: [{ text: 'Echo: hello' }], isError: false } },
    ]);
    const about = { tool: 'everything.echo', source: 'mcp', execution_id: 'run-1' };
    expect(gateway.events.slice(before)).toMatchObject([
      { type: 'ToolInvocationStarted', tenant: 'acme', subject: 'desk', data: about },
      { type: 'ToolInvocationCompleted', data: { ...about, outcome: 'ok' } },
    ]);
  });

  it('AMB-195 GW-INV-22 GW-INV-25 is not called where policy or arguments forbid it', async () => {
    security = { deny_list: ['everything.*'] };
    expect(await invoke('everything.echo', { message: 'no' })).toMatchObject([403, { error: { code: -32_000 } }]);
    security = {};
    expect(await invoke('everything.echo', {})).toMatchObject([422, { error: { code: -32_602 } }]);
    expect(await invoke('everything.get-sum', { a: 'x', b: 1 })).toMatchObject([422, { error: { code: -32_602 } }]);
    expect(await invoke('everything.nothing', {})).toMatchObject([403, { error: { code: -32_000 } }]);
  });

  it('ends a call that takes too long', async () => {
    const long = { duration: 30, steps: 3 };
    const [status, { result }] = await invoke('everything.trigger-long-running-operation', long);
    expect([status, result?.isError, result?.content[0]?.text]).toEqual([
      200,
      true,
      'TIMEOUT: the MCP server everything failed: no answer came in time; its outcome is unknown',
    ]);
  });

  it('GEN-07 never shows the credential', async () => {
    const answers = [await invoke('everything.get-env', {}), await invoke('everything.echo', { message: 'x' })];
    const listed = await fetch(`${gateway.url}/v1/tools`, { headers: { authorization: 'Bearer acme' } });
    const seen = JSON.stringify([answers, gateway.events]) + (await listed.text());
    expect(seen).not.toContain(canary);
  });
});

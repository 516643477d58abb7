import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueToken, type SealKey } from '../../../lib/envelope/index.ts';
import { startTestBus, type TestBus } from '../../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../../support/gateway-world.ts';
import { installPeers, type Program, projectDir, startProgram } from './mcp-peers.ts';

/** MCP clients of others, which sign nothing, before the gateway; the example proxy signs for them. */
const key: SealKey = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
const folder = mkdtempSync(join(tmpdir(), 'windlass-mcp-'));
let peers: string;
let nats: TestBus;
let gateway: GatewayWorld;
let proxy: Program;

beforeAll(async () => {
  peers = await installPeers();
  nats = await startTestBus();
  gateway = await startGatewayWorld({ bus: nats.connect(), key });
  const pair = generateKeyPairSync('ed25519');
  const file = join(folder, 'key.pem');
  writeFileSync(file, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const now = Math.floor(Date.now() / 1_000);
  const claims = { jti: 'token-1', scp: 'default', tenant_id: 'acme', iat: now, exp: now + 3_600 };
  const token = await issueToken(key, claims);
  const session = {
    gateway: gateway.url,
    execution_id: 'run-1',
    expires_at: new Date((now + 3_600) * 1_000).toISOString(),
    security_token: token,
    private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  writeFileSync(join(folder, 'session.json'), JSON.stringify(session));
  const response = await fetch(`${gateway.url}/v1/seal/sessions`, {
    method: 'POST',
    headers: { authorization: 'Bearer acme', 'content-type': 'application/json' },
    body: JSON.stringify({
      execution_id: 'run-1',
      agent_id: 'desk',
      security_context: 'default',
      public_key_b64: pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
      security_token: token,
    }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  const program = join(projectDir, 'examples/signers/mcp-proxy.mjs');
  proxy = await startProgram([program, file, token, 'run-1', `${gateway.url}/v1/mcp`], { ready: /^http:/ });
}, 300_000);
afterAll(async () => {
  await proxy.stop();
  await gateway.close();
  await nats.stop();
  rmSync(folder, { recursive: true });
});

async function inspect(...args: string[]): Promise<unknown> {
  const program = join(peers, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const env = { HOME: folder, PATH: '/usr/bin:/bin', MCP_CATALOG_PATH: join(folder, 'catalogue.json') };
  const line = [program, '--cli', proxy.line, '--transport', 'http', ...args];
  const { stdout } = await promisify(execFile)(execPath, line, { env, timeout: 60_000 });
  return JSON.parse(stdout);
}

describe('the command line of the MCP Inspector', () => {
  it('AMB-196 lists the tools of the session', async () => {
    const tools = [{ name: 'orders.get', inputSchema: { required: ['id'] } }, { name: 'orders.shared' }];
    expect(await inspect('--method', 'tools/list')).toMatchObject({ tools });
  }, 60_000);

  it('calls one of them', async () => {
    const answer = await inspect('--method', 'tools/call', '--tool-name', 'orders.get', '--tool-arg', 'id=order-1');
    expect(answer).toMatchObject({ isError: false, structuredContent: { result: { id: 'order-1' } } });
    expect(gateway.events.filter(({ data }) => data['via'] === 'mcp')).toMatchObject([
      { type: 'ToolInvocationStarted', subject: 'desk' },
      { type: 'ToolInvocationCompleted', data: { outcome: 'ok' } },
    ]);
  }, 60_000);
});

interface OldClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(call: object): Promise<unknown>;
  close(): Promise<void>;
}

describe('a client of the first generation of the SDK', () => {
  it('lists and calls tools', async () => {
    const from = (name: string): Promise<Record<string, new (...args: never[]) => unknown>> =>
      import(join(peers, '@modelcontextprotocol/sdk/dist/esm/client', name));
    const { Client } = await from('index.js');
    const { StreamableHTTPClientTransport: Transport } = await from('streamableHttp.js');
    if (Client === undefined || Transport === undefined) throw new Error('the SDK has another form');
    const client = new Client(...([{ name: 'old', version: '1' }] as never[])) as OldClient;
    await client.connect(new Transport(...([new URL(proxy.line)] as never[])));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['orders.get', 'orders.shared']);
    const call = { name: 'orders.get', arguments: { id: 'order-1' } };
    expect(await client.callTool(call)).toMatchObject({ isError: false });
    await expect(client.callTool({ ...call, arguments: {} })).rejects.toThrow('required field');
    await client.close();
  });
});

describe('a client that starts `windlass gateway mcp`', () => {
  const program = join(projectDir, 'cli/main.ts');
  const line = ['gateway', 'mcp', '--sign', join(folder, 'session.json')];
  const env = { HOME: folder, PATH: '/usr/bin:/bin' };

  it('lists and calls tools with the SDK, over standard input and output', async () => {
    const [{ Client }, { StdioClientTransport }] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    const client = new Client({ name: 'desk', version: '1' });
    await client.connect(new StdioClientTransport({ command: execPath, args: [program, ...line], env }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['orders.get', 'orders.shared']);
    const call = { name: 'orders.get', arguments: { id: 'order-1' } };
    for (let times = 0; times < 2; times += 1)
      expect(await client.callTool(call)).toMatchObject({
        isError: false,
        structuredContent: { result: { id: 'order-1' } },
      });
    await expect(client.callTool({ ...call, arguments: {} })).rejects.toThrow('required field');
    await client.close();
  }, 60_000);

  it('lists tools with the Inspector', async () => {
    const inspector = join(peers, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const args = [inspector, '--cli', execPath, program, ...line, '--method', 'tools/list'];
    const own = { ...env, MCP_CATALOG_PATH: join(folder, 'catalogue.json') };
    const { stdout } = await promisify(execFile)(execPath, args, { env: own, timeout: 60_000 });
    expect(JSON.parse(stdout)).toMatchObject({ tools: [{ name: 'orders.get' }, { name: 'orders.shared' }] });
  }, 60_000);

  it('ends with its standard input, after the last answer, and says nothing but answers', async () => {
    const child = spawn(execPath, [program, ...line], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect([code, stderr]).toEqual([0, '']);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((one) => (JSON.parse(one) as { id: unknown }).id),
    ).toEqual([1]);
  });

  it('ends at SIGTERM while its standard input is open', async () => {
    const child = spawn(execPath, [program, ...line], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([130, null]);
  });
});

it('the proxy signs nothing for a page of the web', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const init = { method: 'POST', body, headers: { 'content-type': 'application/json', origin: 'http://evil.example' } };
  expect((await fetch(proxy.line, init)).status).toBe(403);
});

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OidcServer, startOidc } from '../../dev/oidc/server.ts';
import { userToken } from '../../dev/oidc/sign-in.ts';
import { bypassHeader } from '../../gateway/bypass.ts';
import { createAuditRecord } from '../../lib/audit-chain/index.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Environment } from '../../lib/config.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type GatewayReplica, startGatewayReplica, startLists } from '../support/gateway-replica.ts';
import type { HttpPeer } from '../support/http-peer.ts';
import { startTestMcpServer, type TestMcpServer } from '../support/mcp-server.ts';

/** A whole replica as its process runs it, over HTTP, with NATS, an MCP server and a provider of identities. */
let nats: TestBus;
let notes: TestMcpServer;
let provider: OidcServer;
/** Empty: no test here is about objects. */
let lists: HttpPeer;
beforeAll(async () => {
  nats = await startTestBus();
  provider = await startOidc();
  notes = await startTestMcpServer({
    tools: () => [{ name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } }],
    call: async () => ({ content: [{ type: 'text', text: 'a note' }] }),
  });
  lists = await startLists();
});
afterAll(async () => {
  await notes.close();
  await lists.close();
  await provider.close();
  await nats.stop();
});

const start = (env: Environment): Promise<GatewayReplica> =>
  startGatewayReplica({ nats: nats.server.url, notes: notes.url, lists, env });

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const response = await fetch(url, { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) });
  return { status: response.status, mark: response.headers.get(bypassHeader), text: await response.text() };
}

/** A call without token and signature. */
const envelope = (note = '') => ({
  protocol: 'seal/v1',
  timestamp: Math.floor(Date.now() / 1_000),
  payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'notes.read', arguments: { note } } },
  metadata: { execution_id: `e-${randomUUID()}` },
});

/** Bytes beyond which a body must be vouched for where the bypass is off. */
const large = 'x'.repeat(8_192);

const operators = () => ({
  SEAL_GATEWAY_OPERATOR_JWT_ISSUER: provider.issuer,
  SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
  OIDC_ALLOW_HTTP: 'true',
  SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: generateKeyPairSync('ed25519')
    .publicKey.export({ type: 'spki', format: 'pem' })
    .toString(),
});

/** Resolves when the replica has read the tool of the MCP server. */
const listed = (url: string, headers: Record<string, string> = {}): Promise<void> =>
  vi.waitFor(async () => expect(await (await fetch(`${url}/v1/tools`, { headers })).text()).toContain('"notes.read"'), {
    timeout: 20_000,
  });

describe('a replica with the bypass', () => {
  let replica: GatewayReplica;
  beforeAll(async () => {
    replica = await start({ SEAL_GATEWAY_AUTH_DISABLED: 'true' });
    await listed(replica.url);
  });
  afterAll(() => replica.close());

  it('GW-ENV-07 GW-TEN-01 says so in every answer, be it a refusal', async () => {
    for (const [path, status] of [
      ['/v1/tools', 200],
      ['/v1/nothing', 404],
    ] as const) {
      const { status: got, headers } = await fetch(`${replica.url}${path}`);
      expect([got, headers.get(bypassHeader)]).toEqual([status, 'disabled']);
    }
  });

  it.each([
    ['a small envelope', ''],
    ['a large one', large],
  ])('GW-ENV-07 GW-TEN-02 calls a tool for %s without token and signature, over both paths', async (_title, note) => {
    for (const path of ['/v1/invoke', '/v1/seal/invoke']) {
      const answer = await post(`${replica.url}${path}`, envelope(note));
      expect(answer).toMatchObject({ status: 200, mark: 'disabled', text: expect.stringContaining('a note') });
    }
  });

  it('GW-ENV-07 GW-TEN-02 serves a client of the Model Context Protocol that signs nothing', async () => {
    const answer = await post(`${replica.url}/v1/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(answer).toMatchObject({ status: 200, mark: 'disabled', text: expect.stringContaining('notes.read') });
  });
});

describe('a replica without the bypass', () => {
  let replica: GatewayReplica;
  let authorization: string;
  beforeAll(async () => {
    replica = await start(operators());
    authorization = `Bearer ${await userToken(provider, { name: 'olga', tenant: 'acme', roles: ['svc:operator'] })}`;
    await listed(replica.url, { authorization });
  });
  afterAll(() => replica.close());

  const [token, signature] = ['a.b.c', Buffer.alloc(64).toString('base64')];
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const seal = { authorization: `Bearer ${token}`, 'seal-signature': signature, 'seal-execution-id': 'e-1' };

  it.each<[string, string, object, Record<string, string>]>([
    ['a call without token and signature', '/v1/invoke', envelope(), {}],
    ['a large one', '/v1/seal/invoke', envelope(large), {}],
    ['one with a forged token', '/v1/invoke', { ...envelope(), security_token: token, signature }, {}],
    ['a large one with a forged token', '/v1/invoke', { ...envelope(large), security_token: token, signature }, {}],
    ['a request of the Model Context Protocol without a signature', '/v1/mcp', list, {}],
    ['one with a forged token', '/v1/mcp', list, { ...seal, 'seal-timestamp': String(Math.floor(Date.now() / 1_000)) }],
  ])(
    'GW-ENV-07 GW-TEN-02 refuses %s at %s, and does not say that the bypass is on',
    async (...[, path, body, headers]) => {
      const called = notes.calls.length;
      const { status, mark } = await post(`${replica.url}${path}`, body, headers);
      expect([Math.floor(status / 100), mark]).toEqual([4, null]);
      expect(notes.calls).toHaveLength(called);
    },
  );

  it('GW-ENV-07 GW-TEN-01 refuses an operator without a token', async () => {
    const { status, headers } = await fetch(`${replica.url}/v1/tools`);
    expect([status, headers.get(bypassHeader)]).toEqual([401, null]);
  });

  it('GW-TEN-04 GW-TEN-07 refuses an operator whose X-Tenant-Id names another tenant, with one TenantMismatch', async () => {
    const statusOf = async (named: string): Promise<number> =>
      (await fetch(`${replica.url}/v1/tools`, { headers: { authorization, 'x-tenant-id': named } })).status;
    expect(await statusOf('acme')).toBe(200);
    expect(await statusOf('rival')).toBe(403);
    const record = createAuditRecord({ bus: nats.connect(), clock: systemClock });
    const { events } = await record.page({ tenant: 'acme', types: ['TenantMismatch'], limit: 10 }, { of: 'acme' });
    expect(events.map(({ subject, data }) => [subject, data])).toEqual([
      ['olga', { subject: 'olga', asserted_tenant: 'rival', expected_tenant: 'acme' }],
    ]);
  });
});

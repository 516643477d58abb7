import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../lib/definition/canonical.ts';
import { envelopeLimits, issueToken, type SealKey } from '../../lib/envelope/index.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { canary, type GatewayWorld, startGatewayWorld } from '../../test/support/gateway-world.ts';

/** The SDK's own client, whose requests are signed on their way, before a gateway over HTTP and NATS. */
const key: SealKey = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
let nats: TestBus;
let gateway: GatewayWorld;
let open: GatewayWorld;
let security: { tools?: string[]; deny_list?: string[] } = {};

beforeAll(async () => {
  nats = await startTestBus();
  gateway = await startGatewayWorld({
    bus: nats.connect(),
    key,
    security: new Proxy({}, { get: (_target, name) => Reflect.get(security, name) }),
  });
  open = await startGatewayWorld({ bus: nats.connect(), key, isBypass: true });
});
afterAll(async () => {
  await gateway.close();
  await open.close();
  await nats.stop();
});

function tokenOf(claims: object = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  return issueToken(key, {
    jti: randomUUID(),
    scp: 'default',
    tenant_id: 'acme',
    iat: now,
    exp: now + 3_600,
    ...claims,
  });
}

interface Session {
  readonly executionId: string;
  readonly token: string;
  readonly pem: string;
}

async function begin(patterns: readonly string[] = ['*']): Promise<Session> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const [executionId, token] = [randomUUID(), await tokenOf()];
  const response = await fetch(`${gateway.url}/v1/seal/sessions`, {
    method: 'POST',
    headers: { authorization: 'Bearer acme', 'content-type': 'application/json' },
    body: JSON.stringify({
      execution_id: executionId,
      agent_id: 'desk',
      security_context: 'default',
      public_key_b64: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
      security_token: token,
      allowed_tool_patterns: patterns,
    }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return { executionId, token, pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Headers that vouch for a body. */
function seal({ executionId, token, pem }: Session, body: string, at = Date.now()): Record<string, string> {
  const timestamp = Math.floor(at / 1_000);
  const bytes = Buffer.from(canonicalJson({ payload: JSON.parse(body), security_token: token, timestamp }));
  return {
    authorization: `Bearer ${token}`,
    'seal-execution-id': executionId,
    'seal-timestamp': String(timestamp),
    'seal-signature': sign(null, bytes, createPrivateKey(pem)).toString('base64'),
  };
}

const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

function post(body: string | Buffer, headers: Record<string, string>, at = gateway): Promise<Response> {
  return fetch(`${at.url}/v1/mcp`, { method: 'POST', headers: { ...accept, ...headers }, body });
}

type Mode = 'legacy' | { readonly pin: string };

async function connect(session: Session | undefined, at = gateway, mode: Mode = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const signing = (url: string | URL, init: RequestInit = {}) => {
    const body = typeof init.body === 'string' && session !== undefined ? init.body : undefined;
    const sealed = body === undefined || session === undefined ? {} : seal(session, body);
    return fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...sealed } });
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${at.url}/v1/mcp`), { fetch: signing }));
  return client;
}

const call = (id: number | string, args: object = { id: 'a' }, name = 'orders.get'): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
const mcpEvents = () => gateway.events.filter(({ data }) => data['via'] === 'mcp');

it.each(['tools/list', 'tools/call'])(
  'GW-TEN-04 GW-TEN-07 refuses %s that names another tenant, with one event',
  async (method) => {
    security = {};
    const session = await begin();
    const params = { name: 'orders.get', arguments: { id: 'a' } };
    const body = (id: number) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, ...(method === 'tools/call' && { params }) });
    const ask = (id: number, named: string) => post(body(id), { ...seal(session, body(id)), 'x-tenant-id': named });
    const before = gateway.events.length;
    const refused = await ask(1, 'rival');
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: -32_000 } }]);
    expect(gateway.events.slice(before)).toMatchObject([
      { type: 'TenantMismatch', tenant: 'acme', data: { subject: 'desk', asserted_tenant: 'rival' } },
    ]);
    expect((await ask(2, 'acme')).status).toBe(200);
  },
);

it.each<[string, string, object]>([
  ['tools/list', 'tenant_id', { method: 'tools/list', tenant_id: 'rival' }],
  ['tools/list', 'params._meta.tenant_id', { method: 'tools/list', params: { _meta: { tenant_id: 'rival' } } }],
  [
    'tools/call',
    'arguments.tenant_id',
    { method: 'tools/call', params: { name: 'orders.get', arguments: { id: 'a', tenant_id: 'rival' } } },
  ],
])('GW-TEN-04 GW-TEN-07 refuses %s whose %s is another tenant, with one event', async (_method, at, message) => {
  security = {};
  const session = await begin();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
  const before = gateway.events.length;
  const refused = await post(body, seal(session, body));
  const text = expect.stringMatching(`^${at} names another tenant than the session`) as unknown;
  expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: -32_000, message: text } }]);
  expect(gateway.events.slice(before)).toMatchObject([
    { type: 'TenantMismatch', tenant: 'acme', data: { subject: 'desk', asserted_tenant: 'rival' } },
  ]);
});

describe.each<[string, Mode]>([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
])('an MCP client of the revision %s', (_revision, mode) => {
  it('AMB-196 lists the tools of its session and calls one, audited as a call of the lane', async () => {
    security = {};
    const client = await connect(await begin(), gateway, mode);
    expect((await client.listTools()).tools).toMatchObject([
      { name: 'orders.get', description: 'Reads an order.', inputSchema: { type: 'object', required: ['id'] } },
      { name: 'orders.shared' },
    ]);
    const before = mcpEvents().length;
    const answer = await client.callTool({ name: 'orders.get', arguments: { id: 'order-1' } });
    expect(answer).toMatchObject({ isError: false, structuredContent: { result: { id: 'order-1' } } });
    expect(JSON.stringify(answer)).not.toContain(canary);
    const about = { via: 'mcp', tool: 'orders.get', source: 'workflow' };
    expect(mcpEvents().slice(before)).toMatchObject([
      { type: 'ToolInvocationStarted', tenant: 'acme', subject: 'desk', data: about },
      { type: 'ToolInvocationCompleted', data: { ...about, outcome: 'ok' } },
    ]);
  });

  it('AMB-195 GW-SESS-08 sees and calls what session and context permit, and nothing else', async () => {
    security = { deny_list: ['orders.get'] };
    const client = await connect(await begin(), gateway, mode);
    expect(await namesOf(client)).toEqual(['orders.shared']);
    const before = [gateway.upstreamPaths().length, mcpEvents().length] as const;
    await expect(client.callTool({ name: 'orders.get', arguments: { id: 'a' } })).rejects.toMatchObject({
      code: -32_000,
      message: expect.stringContaining('ToolNotAllowed'),
    });
    security = {};
    await expect(client.callTool({ name: 'orders.get', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32_000 });
    expect(gateway.upstreamPaths()).toHaveLength(before[0]);
    const refused = mcpEvents().slice(before[1]);
    expect(refused.map(({ type, data }) => [type, data['reason']])).toEqual([
      ['ToolInvocationRefused', 'ToolNotAllowed'],
      ['ToolInvocationRefused', 'InvalidArguments'],
      ['ToolInvocationRefused', 'UnknownTool'],
    ]);
    const narrow = await connect(await begin(['orders.s*']), gateway, mode);
    expect(await namesOf(narrow)).toEqual(['orders.shared']);
    await expect(narrow.callTool({ name: 'orders.get', arguments: { id: 'a' } })).rejects.toThrow(
      /40[13]|not active|does not permit/,
    );
  });
});

describe('POST /v1/mcp', () => {
  const methods = ['initialize', 'ping', 'server/discover', 'tools/list', 'tools/call', 'notifications/initialized'];
  const bodyOf = (method: string): string =>
    method === 'tools/call' ? call(randomUUID()) : JSON.stringify({ jsonrpc: '2.0', id: 1, method });

  it.each(methods)(
    'GW-OP-01 GW-INV-14 GW-INV-15 GW-INV-16 refuses %s without a signature, or with that of another key',
    async (method) => {
      const [session, other] = [await begin(), await begin()];
      const body = bodyOf(method);
      const good = seal(session, body);
      const cases: [Record<string, string>, number, number | undefined][] = [
        [{}, 401, undefined],
        [{ authorization: 'Bearer nonsense' }, 401, undefined],
        ...Object.keys(good).map((name): [Record<string, string>, number, undefined] => {
          const { [name]: _missing, ...others } = good;
          return [others, 401, undefined];
        }),
        [{ ...good, authorization: 'Bearer ' }, 401, undefined],
        [{ ...good, authorization: session.token }, 401, undefined],
        [{ ...good, 'seal-execution-id': 'x'.repeat(envelopeLimits.executionIdLength + 1) }, 400, undefined],
        [{ ...good, 'seal-signature': '' }, 400, undefined],
        [{ ...good, 'seal-signature': seal(other, body)['seal-signature'] ?? '' }, 401, 1_004],
        [{ ...good, authorization: `Bearer ${await tokenOf({ tenant_id: 'rival' })}` }, 401, undefined],
        [{ ...good, authorization: 'Bearer a.b.c' }, 401, undefined],
        [{ ...good, 'seal-execution-id': 'unknown' }, 403, undefined],
        [seal(session, body, Date.now() - 60_000), 401, 1_003],
        [seal(session, bodyOf('logging/setLevel')), 401, 1_004],
      ];
      const before = gateway.upstreamPaths().length;
      for (const [headers, status, code] of cases) {
        const response = await post(body, headers);
        const { error } = (await response.json()) as { error: { data: { code: number } | null } };
        expect([response.status, error.data?.code]).toEqual([status, code]);
        expect(response.headers.has('www-authenticate')).toBe(status === 401);
      }
      expect(gateway.upstreamPaths()).toHaveLength(before);
    },
  );

  it('GW-INV-17 AMB-001 runs one call once, over this route and the other', async () => {
    const session = await begin();
    const body = call('once');
    const headers = seal(session, body);
    const before = gateway.upstreamPaths().length;
    const envelope = {
      protocol: 'seal/v1',
      security_token: session.token,
      signature: headers['seal-signature'],
      timestamp: Number(headers['seal-timestamp']),
      payload: JSON.parse(body),
      metadata: { execution_id: session.executionId },
    };
    const [first, again] = [await post(body, headers), await post(body, headers)];
    const other = await fetch(`${gateway.url}/v1/invoke`, { method: 'POST', body: JSON.stringify(envelope) });
    expect([first.status, again.status, other.status]).toEqual([200, 401, 401]);
    expect(gateway.upstreamPaths()).toHaveLength(before + 1);
  });

  it('runs the arguments that were signed, and refuses JSON that two readers understand differently', async () => {
    const session = await begin();
    const body = call(7, { id: 'MARK' });
    const twice = body.replace('"id":"MARK"', '"id":"other","id":"MARK"');
    const spaced = body.replace('"MARK"', String.raw`"\u004dARK"`);
    expect((await post(twice, seal(session, body))).status).toBe(400);
    expect((await post(spaced, seal(session, body))).status).toBe(200);
  });

  it('GW-SESS-10 refuses a session that was revoked, for lists as well', async () => {
    const session = await begin();
    const client = await connect(session);
    const revoked = await fetch(`${gateway.url}/v1/seal/sessions/${session.executionId}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer acme' },
    });
    expect(revoked.status).toBe(200);
    await expect(client.listTools()).rejects.toThrow(/40[13]|not active|does not permit/);
    await expect(client.callTool({ name: 'orders.get', arguments: { id: 'a' } })).rejects.toThrow(
      /40[13]|not active|does not permit/,
    );
  });

  it('refuses a cursor that no list gave by an error of the protocol', async () => {
    const session = await begin();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: '%' } });
    const response = await post(body, seal(session, body));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"code":-32602')]);
  });

  it('answers a method that it does not have, and keeps no stream open', async () => {
    const session = await begin();
    for (const method of ['subscriptions/listen', 'resources/list', 'sampling/createMessage']) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} });
      const response = await post(body, seal(session, body));
      expect([response.status, await response.json()]).toMatchObject([200, { id: 1, error: { code: -32_601 } }]);
    }
    expect((await fetch(`${gateway.url}/v1/mcp`)).status).toBe(405);
    expect((await fetch(`${gateway.url}/v1/mcp`, { method: 'DELETE' })).status).toBe(405);
  });

  it.each<[string, string | Buffer, number]>([
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400],
    ['no JSON', '{', 400],
    ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le'), 400],
    ['an answer', '{"jsonrpc":"2.0","id":1,"result":{}}', 400],
    ['65 levels', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(65)}1${'}'.repeat(65)}}`, 400],
    ['3 MiB', `{"jsonrpc":"2.0","id":1,"method":"ping","x":"${'a'.repeat(3 * 1_024 * 1_024)}"}`, 413],
  ])('refuses %s', async (_title, body, status) => {
    const session = await begin();
    const headers = seal(session, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect((await post(body, headers)).status).toBe(status);
  });

  it('refuses what a page of the web sends', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const origin = { origin: 'https://evil.example' };
    expect((await post(body, { ...seal(await begin(), body), ...origin })).status).toBe(403);
    expect((await post(body, origin, open)).status).toBe(403);
    expect((await post(body, {}, open)).status).toBe(200);
  });

  it('GW-ENV-07 serves a client that signs nothing while the bypass is on', async () => {
    const client = await connect(undefined, open);
    expect(await namesOf(client)).toEqual(['orders.shared']);
    expect(await client.callTool({ name: 'orders.shared', arguments: { id: 'a' } })).toMatchObject({ isError: false });
  });
});

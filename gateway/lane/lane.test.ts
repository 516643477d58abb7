import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { globalNamespace } from '../../crds/labels.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { builtInTools } from '../../crds/tool-name.ts';
import { aborted } from '../../lib/aborted.ts';
import type { GatewayEvent } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createProofPool,
  createRevocations,
  createSealSessions,
  createVouch,
  issueToken,
  type Revocations,
  type SealKey,
} from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createHttpApp, type Listener, listen } from '../../lib/http/index.ts';
import { newId } from '../../lib/ids.ts';
import { createSearches } from '../../lib/word-search.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { aSigner, type Signer } from '../../test/support/seal-world.ts';
import { contextReads } from '../../test/support/session-contexts.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { Operator } from '../identity/operator.ts';
import { createTenancy } from '../identity/tenancy.ts';
import { createInvokeRoutes } from '../routes/invoke/index.ts';
import { createSessionRoutes } from '../routes/sessions/index.ts';
import { createToolRoutes } from '../routes/tools/index.ts';
import { createSessionView } from '../sessions/session-view.ts';
import { createContainerSource } from '../tools/container-source.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import type { GatewayTool } from '../tools/tool-source.ts';
import { createInvoke } from './invoke.ts';
import { createAuditedRefusals } from './lane.ts';

const pair = generateKeyPairSync('ed25519');
const key: SealKey = { ...pair, issuer: 'windlass', audience: 'windlass-tools' };
const seconds = (): number => Math.floor(Date.now() / 1_000);

let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
});
afterAll(() => nats.stop());

/** One replica of the gateway, with everything real but the cluster and the provider of identities. */
interface Replica {
  readonly url: string;
  readonly events: GatewayEvent[];
  /** Times at which the tool began. */
  readonly begun: number[];
  readonly revocations: Revocations;
  close(): Promise<void>;
}

let security: SecurityContextSpec | undefined;
let isAuditAway: boolean;
let toolMs: number;
/** A revocation waits so much less for calls that are under way. */
let hurry: number;

async function startReplica(bus: EventBus): Promise<Replica> {
  const events: GatewayEvent[] = [];
  const begun: number[] = [];
  const stop = new AbortController();
  const deps = { bus, clock: systemClock, logger: silentLogger, newId };
  const audit = {
    append: async (event: GatewayEvent) => {
      if (isAuditAway) throw new AppError('unavailable', 'away');
      events.push(event);
    },
    problem: () => undefined,
    close: async () => undefined,
  };
  const tenants = { namespaceOf: (slug: string) => slug };
  const tenancy = createTenancy({ audit, tenants });
  const sessions = createSealSessions(bus);
  const calls = createCallsUnderWay({ ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / hurry, signal) });
  const view = createSessionView(deps);
  const revocations = createRevocations({ ...deps, sessions, calls });
  const registry = createToolRegistry([createContainerSource(), toolsOf(begun)]);
  const securityOf = (_tenant: string | undefined, name: string) => (name === 'written' ? undefined : security);
  const kube = contextReads({ acme: new Map([['written', {}]]), [globalNamespace]: new Map([['shared', {}]]) });
  const prove = createEnvelopeProof({ bus, clock: systemClock, key, sessions });
  const rateLimit = { take: async () => undefined };
  const counter = createCallCounter(bus);
  const proofs = createProofPool({ clock: systemClock, key });
  const lane = { calls, counter, prove, rateLimit, registry, securityOf, tenants, proofs };
  const invoke = createInvoke({ ...deps, ...lane, audit });
  const running = [view.run(stop.signal), revocations.run(stop.signal)];
  await revocations.open(stop.signal);
  const app = createHttpApp<Operator>({
    ...deps,
    routes: [
      ...createInvokeRoutes({
        noteRefusal: createAuditedRefusals({ audit, clock: systemClock }),
        invoke,
        vouch: createVouch({ clock: systemClock, key, sessions, proofs }),
        isBypass: false,
      }),
      ...createSessionRoutes({
        ...deps,
        audit,
        sessions,
        view,
        revocations,
        tenancy,
        securityOf,
        kube,
        sealKey: () => key,
      }),
      ...createToolRoutes({ registry, securityOf, searches: createSearches(systemClock) }),
    ],
    authenticate: async ({ authorization = '' }) => ({
      subject: 'olga',
      kind: 'consumer',
      tenant: authorization.replace('Bearer ', ''),
      isAdmin: false,
      scopes: [],
      until: Number.POSITIVE_INFINITY,
    }),
    tenantOf: ({ tenant }) => tenant ?? '',
  });
  const listener: Listener = await listen(app, { port: 0, host: '127.0.0.1' });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    events,
    begun,
    revocations,
    async close() {
      await listener.close(AbortSignal.abort());
      stop.abort();
      await Promise.all(running);
      await revocations.close();
    },
  };
}

function toolsOf(begun: number[]) {
  const tool: GatewayTool = {
    name: 'orders.get',
    description: 'Reads an order.',
    input_schema: {
      type: 'object',
      properties: { id: { type: 'string' }, note: { type: 'string' } },
      required: ['id'],
    },
    source: 'workflow',
    skip_judge: false,
    fleet_capable: false,
    async call(_caller, args, { signal }) {
      begun.push(Date.now());
      if (args['id'] === 'endless') return aborted(signal).then(() => Promise.reject(signal.reason));
      if (args['id'] === 'bad') throw new AppError('invalid', "body_template of step 'read' gives no JSON");
      if (args['id'] === 'gone') throw new AppError('not_found', 'the API spec was deleted');
      if (args['id'] === 'broken') throw new Error('the secret of the upstream');
      await new Promise((resolve) => setTimeout(resolve, toolMs));
      return { content: JSON.stringify(args), structured: args, isError: args['id'] === 'failed' };
    },
  };
  const refused: GatewayTool = {
    ...tool,
    name: 'orders.refused',
    input_schema: { type: 'object', properties: { id: { type: 'txt' } } },
    notReady: 'InvalidDefinition: spec.input_schema',
    call: () => Promise.reject(new AppError('invalid', 'the tool cannot run: InvalidDefinition: spec.input_schema')),
  };
  const ofTenants: GatewayTool = {
    ...tool,
    name: 'tenants.get',
    input_schema: { type: 'object', properties: { id: { type: 'string' }, tenant_id: { type: 'string' } } },
  };
  return {
    list: () => [tool],
    find: (_tenant: string | undefined, name: string) => [tool, refused, ofTenants].find((one) => one.name === name),
  };
}

let replicas: Replica[];
let signer: Signer;
let executionId: string;
let token: string;

const operatorKey = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** All claims of a SEAL token, under another algorithm and key. */
const foreignToken = (alg: string, by: KeyObject | Uint8Array): Promise<string> =>
  new SignJWT({ iss: key.issuer, aud: key.audience, jti: randomUUID(), scp: 'default', tenant_id: 'acme' })
    .setProtectedHeader({ alg })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(by);

const tokenOf = (claims: object = {}, by = key): Promise<string> =>
  issueToken(by, {
    jti: randomUUID(),
    scp: 'default',
    tenant_id: 'acme',
    iat: seconds(),
    exp: seconds() + 3_600,
    ...claims,
  });

interface Options {
  readonly method?: string;
  readonly body?: unknown;
  readonly tenant?: string;
  readonly at?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function request(path: string, options: Options = {}) {
  const { method = 'GET', body, tenant = 'acme', at = 0 } = options;
  const headers = {
    ...options.headers,
    authorization: `Bearer ${tenant}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${replicas[at]?.url}${path}`, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an answer of a test
  return [response.status, (await response.json()) as Record<string, unknown>] as const;
}

const sessionBody = (more: object = {}) => ({
  execution_id: executionId,
  agent_id: 'desk',
  security_context: 'default',
  public_key_b64: signer.publicKey,
  security_token: token,
  ...more,
});

const register = (more: object = {}, options: object = {}) =>
  request('/v1/seal/sessions', { method: 'POST', body: sessionBody(more), ...options });

const payloadOf = (id: string, name = 'orders.get') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: { id } },
});
const withParams = (params: object) => {
  const payload = payloadOf('4');
  return { ...payload, params: { ...payload.params, ...params } };
};

const signed = (payload: unknown, more: object = {}) =>
  signer.sign({ token, timestamp: seconds(), payload, executionId, ...more });
const invoke = (body: unknown, at = 0, path = '/v1/invoke') => request(path, { method: 'POST', body, at });
const errorOf = (code: number, message: unknown, data: unknown = null) => ({
  jsonrpc: '2.0',
  id: 1,
  error: { code, message, data },
});

beforeEach(async () => {
  security = {};
  isAuditAway = false;
  toolMs = 0;
  hurry = 1;
  signer = aSigner();
  executionId = randomUUID();
  token = await tokenOf();
  replicas = [await startReplica(nats.connect())];
});
afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
});

describe('sessions of operators', () => {
  it('GW-OP-12 GW-OP-14 GW-SESS-06 GW-SESS-07 GW-SESS-09 AMB-117 are made with defaults, and never show their token', async () => {
    const [status, made] = await register();
    expect([status, made]).toMatchObject([
      200,
      { id: executionId, state: 'active', allowed_tool_patterns: ['*'], tenant_id: 'acme' },
    ]);
    const left = Date.parse(String(made['expires_at'])) - Date.now();
    expect(left).toBeGreaterThan(3_590_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
    const answers = [
      made,
      await request(`/v1/seal/sessions/${executionId}`),
      await request('/v1/seal/sessions?limit=200'),
    ];
    expect(JSON.stringify(answers)).not.toContain(token);
    expect(answers[1]).toMatchObject([200, { execution_id: executionId, agent_id: 'desk', state: 'active' }]);
  });

  it('AMB-116 the same body gives the same session; another one is a conflict', async () => {
    const [, first] = await register();
    expect(await register()).toEqual([200, first]);
    expect((await register({ agent_id: 'other' }))[0]).toBe(409);
    expect(replicas[0]?.events.filter(({ type }) => type === 'SessionCreated')).toHaveLength(1);
  });

  it('GW-EVT-01 stay without effect until their event is stored, which the next attempt does', async () => {
    isAuditAway = true;
    expect((await register())[0]).toBe(503);
    expect((await request(`/v1/seal/sessions/${executionId}`))[0]).toBe(404);
    isAuditAway = false;
    expect((await invoke(signed(payloadOf('1'))))[0]).toBe(403);
    expect((await register())[0]).toBe(200);
    expect(replicas[0]?.events.map(({ type }) => type)).toEqual(['SessionCreated']);
    expect((await invoke(signed(payloadOf('2'))))[0]).toBe(200);
  });

  it('are made under another key where the event of the attempt before was not stored', async () => {
    isAuditAway = true;
    expect((await register())[0]).toBe(503);
    isAuditAway = false;
    signer = aSigner();
    expect((await register())[0]).toBe(200);
    expect((await invoke(signed(payloadOf('1'))))[0]).toBe(200);
    expect(replicas[0]?.events.filter(({ type }) => type === 'SessionCreated')).toHaveLength(1);
  });

  it.each(['fs?read', 'fs.[rw]*', 'fs.{read,write}', '!fs.read', 'fs read', 'fs.read,fs.write', '*.*.*.*.*.*.*.*.*'])(
    'GW-SESS-07 refuse a pattern with any wildcard but *, and with more than 8 of it: %s',
    async (pattern) => {
      const [status, body] = await register({ allowed_tool_patterns: ['fs.*', pattern] });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('allowed_tool_patterns[1]')]);
    },
  );

  it.each<[string, field: string, change: object]>([
    ['GW-SESS-04 a PEM', 'public_key_b64', { public_key_b64: pair.publicKey.export({ format: 'pem', type: 'spki' }) }],
    ['AMB-142 a key of small order', 'public_key_b64', { public_key_b64: Buffer.alloc(32).toString('base64') }],
    ['AMB-116 a time that is over', 'body.expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['a time without its zone', 'body.expires_at', { expires_at: '2030-01-01T00:00:00' }],
    ['GW-SESS-06 a day that does not exist', 'body.expires_at', { expires_at: '2030-02-30T00:00:00Z' }],
    ['GW-SESS-05 a token of another key', 'body.security_token', { security_token: 'a.b.c' }],
    ['AMB-119 a token of another context', 'body.security_token', { security_context: 'other' }],
    ['GW-SESS-01 no execution_id', 'body.execution_id', { execution_id: undefined }],
    ['GW-SESS-01 an empty execution_id', 'body.execution_id', { execution_id: '' }],
    ['GW-SESS-02 no agent_id', 'body.agent_id', { agent_id: undefined }],
    ['GW-SESS-02 an empty agent_id', 'body.agent_id', { agent_id: '' }],
    ['GW-SESS-03 no security_context', 'body.security_context', { security_context: undefined }],
    ['GW-SESS-03 an empty security_context', 'body.security_context', { security_context: '' }],
    ['a field of no meaning', 'body.color', { color: 'red' }],
  ])('are refused with 400, which names the field: %s', async (_name, field, change) => {
    const [status, body] = await register(change);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
  });

  it('GW-SESS-03 name a security context that is there, also one that the cache has not yet', async () => {
    const named = async (scp: string) =>
      register({ execution_id: randomUUID(), security_context: scp, security_token: await tokenOf({ scp }) });
    expect((await named('written'))[0]).toBe(200);
    security = undefined;
    expect((await named('shared'))[0]).toBe(200);
    const [status, { error, message, details }] = await named('writen');
    expect({ status, error, message, details }).toEqual({
      status: 400,
      error: 'invalid_request',
      message: expect.stringMatching(/^body\.security_context .*: writen; did you mean written\?$/) as unknown,
      details: [{ path: 'body.security_context', message: expect.any(String) as unknown }],
    });
    const [, far] = await named('nope');
    expect(far['message']).toContain('GET /v1/security-contexts of the tool gateway lists them');
    expect(replicas[0]?.events.map(({ type }) => type)).toEqual(['SessionCreated', 'SessionCreated']);
  });

  it.each<[string, string, () => Promise<object>]>([
    ['field', 'tenant_id', async () => ({ tenant_id: 'rival' })],
    [
      'field of a body that breaks other rules',
      'tenant_id',
      async () => ({ tenant_id: 'rival', agent_id: 7, color: 'red' }),
    ],
    [
      'token',
      'body.security_token is for the tenant rival',
      async () => ({ security_token: await tokenOf({ tenant_id: 'rival' }) }),
    ],
  ])(
    'GW-TEN-04 GW-TEN-07 GW-EVT-07 AMB-123 are refused with one TenantMismatch for a %s of another tenant',
    async (_name, text, change) => {
      const [status, { message }] = await register(await change());
      expect([status, message]).toEqual([403, expect.stringContaining(text)]);
      expect(replicas[0]?.events).toMatchObject([
        { type: 'TenantMismatch', data: { subject: 'olga', asserted_tenant: 'rival', expected_tenant: 'acme' } },
      ]);
    },
  );

  it('GW-OP-13 are listed by tenant, in pages, without revoked ones', async () => {
    const tenant = `t${randomUUID().slice(0, 8)}`;
    token = await tokenOf({ tenant_id: tenant });
    for (const execution_id of ['c', 'a', 'b']) await register({ execution_id: execution_id + tenant }, { tenant });
    const ids = (page: Record<string, unknown>) =>
      (page['items'] as { execution_id: string }[]).map((row) => row.execution_id[0]);
    const [, first] = await request('/v1/seal/sessions?limit=2', { tenant });
    expect(ids(first)).toEqual(['a', 'b']);
    const [, second] = await request(`/v1/seal/sessions?limit=2&cursor=${String(first['next_cursor'])}`, { tenant });
    expect([ids(second), second['next_cursor']]).toEqual([['c'], null]);
    await request(`/v1/seal/sessions/a${tenant}`, { method: 'DELETE', tenant });
    expect(ids((await request('/v1/seal/sessions', { tenant }))[1])).toEqual(['b', 'c']);
    expect((await request(`/v1/seal/sessions/b${tenant}`, { tenant: 'rival' }))[0]).toBe(404);
    expect((await request(`/v1/seal/sessions/b${tenant}`, { method: 'DELETE', tenant: 'rival' }))[0]).toBe(404);
  });
});

describe('the invocation lane', () => {
  it.each(['/v1/invoke', '/v1/seal/invoke'])(
    'GW-INV-01 GW-INV-05 GW-INV-13 %s runs a tool between two events',
    async (path) => {
      await register();
      expect(await invoke(signed(payloadOf('7')), 0, path)).toEqual([
        200,
        {
          jsonrpc: '2.0',
          id: 1,
          result: { content: [{ type: 'text', text: '{"id":"7"}' }], structuredContent: { id: '7' }, isError: false },
        },
      ]);
      const types = replicas[0]?.events.map(({ type }) => type);
      expect(types).toEqual(['SessionCreated', 'ToolInvocationStarted', 'ToolInvocationCompleted']);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'ADR 0138 GW-INV-01 runs an envelope of the Content-Type %j',
    async (type) => {
      await register();
      const body = Buffer.from(JSON.stringify(signed(payloadOf('7'))));
      const headers = type === '' ? {} : { 'content-type': type };
      const { status } = await fetch(`${replicas[0]?.url}/v1/invoke`, { method: 'POST', headers, body });
      expect(status).toBe(200);
    },
  );

  it('GW-INV-17 AMB-001 drops a replay, over the alias and the other replica as well', async () => {
    replicas.push(await startReplica(nats.connect()));
    await register();
    const body = signed(payloadOf('1'));
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        invoke(body, index % 2, index % 3 === 0 ? '/v1/invoke' : '/v1/seal/invoke'),
      ),
    );
    expect(answers.map(([status]) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 401),
    ]);
    expect(replicas.flatMap(({ begun }) => begun)).toHaveLength(1);
    expect((await invoke(signed(payloadOf('2'))))[0]).toBe(200);
  });

  it('GW-INV-17 AMB-001 drops a call that is addressed to another session of the same key', async () => {
    await register();
    const second = randomUUID();
    expect((await register({ execution_id: second, security_token: await tokenOf() }))[0]).toBe(200);
    const body = signed(payloadOf('1'));
    expect((await invoke(body))[0]).toBe(200);
    expect((await invoke({ ...body, metadata: { execution_id: second } }))[0]).toBe(401);
    expect(replicas[0]?.begun).toHaveLength(1);
    const own = signed(payloadOf('1'), { token: await tokenOf(), executionId: second });
    expect((await invoke(own))[0]).toBe(200);
  });

  it.each([
    ['small', ''],
    ['large', 'y'.repeat(65_536)],
  ])(
    'GW-INV-14 GW-TEN-07 AMB-119 refuses the token of another tenant by 401, with one TenantMismatch for the owner: %s',
    async (_size, note) => {
      await register();
      const token = await tokenOf({ tenant_id: 'rival' });
      const payload = { ...payloadOf('1'), params: { name: 'orders.get', arguments: { id: '1', note } } };
      const ask = async (id: string) => (await invoke(signed(payload, { token, executionId: id })))[0];
      expect([await ask(executionId), await ask('unknown')]).toEqual([401, 403]);
      expect(replicas[0]?.events.map(({ type }) => type)).toEqual(['SessionCreated', 'TenantMismatch']);
      expect(replicas[0]?.events.at(-1)).toMatchObject({
        tenant: 'acme',
        data: { subject: 'unproved', asserted_tenant: 'rival', expected_tenant: 'acme' },
      });
    },
  );

  it.each(['/v1/invoke', '/v1/seal/invoke'])(
    'GW-TEN-04 GW-TEN-07 AMB-123 refuses a call at %s that is proved and names another tenant in X-Tenant-Id, with one event',
    async (path) => {
      await register();
      const ask = (id: string, named: string) =>
        request(path, { method: 'POST', body: signed(payloadOf(id)), headers: { 'x-tenant-id': named } });
      const message = 'X-Tenant-Id names another tenant than the session; leave it out';
      expect(await ask('1', 'rival')).toEqual([403, errorOf(-32_000, message)]);
      expect(replicas[0]?.begun).toEqual([]);
      expect(replicas[0]?.events.map(({ type }) => type)).toEqual(['SessionCreated', 'TenantMismatch']);
      expect(replicas[0]?.events.at(-1)).toMatchObject({
        tenant: 'acme',
        subject: 'desk',
        data: { subject: 'desk', asserted_tenant: 'rival', expected_tenant: 'acme' },
      });
      expect([(await ask('2', 'acme'))[0], (await ask('3', ''))[0]]).toEqual([200, 200]);
      // An unproved call has no event: a stranger could fill the audit.
      const forged = { ...signed(payloadOf('4')), signature: Buffer.alloc(64).toString('base64') };
      const headers = { 'x-tenant-id': 'rival' };
      expect((await request(path, { method: 'POST', body: forged, headers }))[0]).toBe(401);
      expect(replicas[0]?.events.filter(({ type }) => type === 'TenantMismatch')).toHaveLength(1);
    },
  );

  it.each<[string, (tenant: string) => object]>([
    ['tenant_id', (tenant_id) => ({ ...signed(payloadOf(`1${tenant_id}`)), tenant_id })],
    [
      'metadata.tenant_id',
      (tenant_id) => ({ ...signed(payloadOf(`2${tenant_id}`)), metadata: { execution_id: executionId, tenant_id } }),
    ],
    ['payload.tenant_id', (tenant_id) => signed({ ...payloadOf('3'), tenant_id })],
    ['payload.params.tenant_id', (tenant_id) => signed(withParams({ tenant_id }))],
    ['payload.params._meta.tenant_id', (tenant_id) => signed(withParams({ _meta: { tenant_id } }))],
    ['arguments.tenant_id', (tenant_id) => signed(withParams({ arguments: { id: '5', tenant_id } }))],
  ])(
    'GW-TEN-04 GW-TEN-07 AMB-123 refuses a proved call whose %s is another tenant, with one event',
    async (at, body) => {
      await register();
      expect(await invoke(body('rival'))).toEqual([
        403,
        errorOf(-32_000, expect.stringMatching(`^${at} names another tenant than the session; leave it out`)),
      ]);
      expect(replicas[0]?.begun).toEqual([]);
      expect(replicas[0]?.events.slice(1)).toMatchObject([
        {
          type: 'TenantMismatch',
          tenant: 'acme',
          subject: 'desk',
          data: { subject: 'desk', asserted_tenant: 'rival', expected_tenant: 'acme' },
        },
      ]);
      expect((await invoke(body('acme')))[0]).toBe(200);
      expect(replicas[0]?.events.filter(({ type }) => type === 'TenantMismatch')).toHaveLength(1);
    },
  );

  it('GW-TEN-04 GW-TEN-07 counts one mismatch for a call that names other tenants in several places', async () => {
    await register();
    const body = { ...signed({ ...withParams({ tenant_id: 'third' }), tenant_id: 'rival' }), tenant_id: 'acme' };
    const headers = { 'x-tenant-id': 'second' };
    expect((await request('/v1/invoke', { method: 'POST', body, headers }))[0]).toBe(403);
    expect(replicas[0]?.events.slice(1)).toMatchObject([
      { type: 'TenantMismatch', data: { asserted_tenant: 'second' } },
    ]);
  });

  it('GW-TEN-04 leaves an argument tenant_id to a tool that has one, and names it for a tool that there is not', async () => {
    await register();
    const args = { arguments: { id: '1', tenant_id: 'rival' } };
    expect((await invoke(signed(withParams({ ...args, name: 'tenants.get' }))))[0]).toBe(200);
    expect((await invoke(signed(withParams({ ...args, name: 'nothing' }))))[0]).toBe(403);
    expect(replicas[0]?.events.map(({ type }) => type)).toEqual([
      'SessionCreated',
      'ToolInvocationStarted',
      'ToolInvocationCompleted',
      'TenantMismatch',
    ]);
  });

  it('GW-TEN-07 GW-INV-27 refuses the token of another tenant by 503 while its event cannot be stored', async () => {
    await register();
    isAuditAway = true;
    const foreign = signed(payloadOf('1'), { token: await tokenOf({ tenant_id: 'rival' }) });
    expect(await invoke(foreign)).toMatchObject([503, { error: { code: -32_603 } }]);
    isAuditAway = false;
    expect(await invoke(foreign)).toEqual([401, errorOf(-32_000, 'invalid token')]);
  });

  describe('AMB-116 of two tenants with sessions of one id', () => {
    let rival: { readonly signer: Signer; readonly token: string };
    let made: number[];
    const ofRival = (id: string, at = 0) =>
      invoke(rival.signer.sign({ token: rival.token, timestamp: seconds(), payload: payloadOf(id), executionId }), at);
    const sessionOf = (tenant: string, method = 'GET', at = 0) =>
      request(`/v1/seal/sessions/${executionId}`, { method, tenant, at });
    beforeEach(async () => {
      replicas.push(await startReplica(nats.connect()));
      rival = { signer: aSigner(), token: await tokenOf({ tenant_id: 'rival' }) };
      const body = { public_key_b64: rival.signer.publicKey, security_token: rival.token, agent_id: 'thief' };
      made = [(await register())[0], (await register(body, { tenant: 'rival', at: 1 }))[0]];
    });

    it('runs the calls of each, and shows each its own', async () => {
      expect(made).toEqual([200, 200]);
      expect([(await invoke(signed(payloadOf('1')), 1))[0], (await ofRival('1'))[0]]).toEqual([200, 200]);
      expect((await sessionOf('acme'))[1]).toMatchObject({ agent_id: 'desk', tenant_id: 'acme' });
      expect((await sessionOf('rival'))[1]).toMatchObject({ agent_id: 'thief', tenant_id: 'rival' });
      expect((await sessionOf('third'))[0]).toBe(404);
      expect((await sessionOf('third', 'DELETE'))[0]).toBe(404);
    });

    it('GW-SESS-10 revokes that of one, and leaves the calls of the other under way', async () => {
      const gone = new AbortController();
      const body = JSON.stringify(signed(payloadOf('endless')));
      const under = fetch(`${replicas[0]?.url}/v1/invoke`, { method: 'POST', body, signal: gone.signal });
      await vi.waitFor(() => expect(replicas[0]?.begun).toHaveLength(1));
      expect((await sessionOf('rival', 'DELETE', 1))[0]).toBe(200);
      expect(replicas[0]?.events.map(({ type }) => type)).not.toContain('ToolInvocationCompleted');
      expect([(await ofRival('2'))[0], (await ofRival('3', 1))[0]]).toEqual([403, 403]);
      expect((await invoke(signed(payloadOf('2')), 1))[0]).toBe(200);
      gone.abort();
      await expect(under).rejects.toThrow('aborted');
    });

    it('AMB-195 counts the calls of each to its own max_calls', async () => {
      security = { max_calls: 1 };
      const statuses = [await ofRival('1'), await ofRival('2', 1), await invoke(signed(payloadOf('1')), 1)];
      expect(statuses.map(([status]) => status)).toEqual([200, 403, 200]);
    });
  });

  describe('of which a large body', () => {
    /** 64 KiB that are no JSON at their end: only what is parsed is malformed. */
    const unreadable = (executionId: string, token: string): string => {
      const body = JSON.stringify({
        metadata: { execution_id: executionId },
        security_token: token,
        pad: 'y'.repeat(65_536),
      });
      return `${body.slice(0, -1)},}`;
    };
    const errorAlone = (code: number, message: unknown) => ({ jsonrpc: '2.0', error: { code, message, data: null } });

    it('GW-INV-13 names no session is refused before it is parsed', async () => {
      expect(await invoke(unreadable('nobody', token))).toEqual([
        403,
        errorAlone(-32_000, 'the session is not active; attest again'),
      ]);
    });

    it('GW-INV-14 holds no token of the session is refused before it is parsed, and the tenant learns of it', async () => {
      await register();
      const forged = await tokenOf({}, { ...key, ...generateKeyPairSync('ed25519') });
      expect(await invoke(unreadable(executionId, forged))).toEqual([401, errorAlone(-32_000, 'invalid token')]);
      expect(replicas[0]?.events.at(-1)).toMatchObject({ type: 'ToolInvocationRefused', tenant: 'acme' });
    });

    it('GW-INV-23 holds the token of its session is parsed, and malformed', async () => {
      await register();
      const want = errorAlone(-32_600, expect.stringMatching(/^Malformed envelope: envelope is not valid JSON/));
      expect(await invoke(unreadable(executionId, token))).toEqual([400, want]);
    });

    it('GW-INV-01 is a call of the session runs', async () => {
      await register();
      const payload = {
        ...payloadOf('1'),
        params: { name: 'orders.get', arguments: { id: '1', note: 'y'.repeat(65_536) } },
      };
      expect((await invoke(signed(payload)))[0]).toBe(200);
    });
  });

  it('of a session whose signatures are not good leaves few events, which name no agent and count the rest', async () => {
    await register();
    const stranger = aSigner();
    const forged = (id: string) => stranger.sign({ token, timestamp: seconds(), payload: payloadOf(id), executionId });
    const refusals = () => replicas[0]?.events.filter(({ type }) => type === 'ToolInvocationRefused') ?? [];
    const answers = await Promise.all(Array.from({ length: 60 }, (_, id) => invoke(forged(String(id)))));
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([401]));
    const [first] = refusals();
    expect(first).toMatchObject({
      subject: 'unproved',
      data: { claimed_tool: 'orders.get', reason: 'signature_invalid' },
    });
    expect(first?.data).not.toHaveProperty('tool');
    expect(refusals().length).toBeLessThan(20);
    const leftOut = 60 - refusals().length;
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await invoke(forged('last'));
    const counted = refusals().reduce((sum, { data }) => sum + Number(data['left_out'] ?? 0), 0);
    expect(counted).toBe(leftOut);
  });

  it('of a revoked session leaves an event where its token is one of the session, and none otherwise', async () => {
    await register();
    await request(`/v1/seal/sessions/${executionId}`, { method: 'DELETE' });
    const forged = await tokenOf({}, { ...key, privateKey: generateKeyPairSync('ed25519').privateKey });
    expect((await invoke(signed(payloadOf('1'), { token: forged })))[0]).toBe(403);
    expect(replicas[0]?.events.map(({ type }) => type)).toEqual(['SessionCreated', 'SessionRevoked']);
    expect((await invoke(signed(payloadOf('2'))))[0]).toBe(403);
    expect(replicas[0]?.events.slice(2)).toEqual([
      {
        type: 'ToolInvocationRefused',
        tenant: 'acme',
        subject: 'unproved',
        data: { claimed_tool: 'orders.get', reason: 'session_inactive', execution_id: executionId },
      },
    ]);
  });

  it('of a session that it does not permit leaves an event each, which names the agent', async () => {
    await register({ allowed_tool_patterns: [] });
    for (let id = 0; id < 30; id += 1) await invoke(signed(payloadOf(String(id))));
    const refusals = replicas[0]?.events.filter(({ type }) => type === 'ToolInvocationRefused');
    expect(refusals).toHaveLength(30);
    expect(refusals?.[0]).toMatchObject({ subject: 'desk', data: { tool: 'orders.get', reason: 'out_of_session' } });
  });

  it('GW-INV-27 GW-INV-23 answers a body that is too large by a JSON-RPC error', async () => {
    const body = `{"x":"${'y'.repeat(2_097_152)}"}`;
    const message = 'the body is larger than 2097152 bytes';
    const error = { jsonrpc: '2.0', error: { code: -32_600, message, data: null } };
    expect(await invoke(body)).toEqual([413, error]);
  });

  it.each<[string, number, object, () => object | Promise<object>]>([
    [
      'GW-INV-20 AMB-003 an old timestamp',
      401,
      errorOf(-32_000, 'timestamp outside freshness window', { code: 1003 }),
      () => signed(payloadOf('1'), { timestamp: seconds() - 32 }),
    ],
    [
      'GW-INV-16 a timestamp to come',
      401,
      errorOf(-32_000, 'timestamp outside freshness window', { code: 1003 }),
      () => signed(payloadOf('1'), { timestamp: seconds() + 33 }),
    ],
    [
      'GW-INV-21 GW-INV-15 another key',
      401,
      errorOf(-32_000, 'signature verification failed', { code: 1004 }),
      () => aSigner().sign({ token, timestamp: seconds(), payload: payloadOf('1'), executionId }),
    ],
    [
      'GW-INV-14 GW-INV-12 a token that has ended',
      401,
      errorOf(-32_000, 'invalid token'),
      async () => signed(payloadOf('1'), { token: await tokenOf({ exp: seconds() - 10 }) }),
    ],
    [
      'GW-INV-10 GW-TEN-06 a token without a tenant',
      401,
      errorOf(-32_000, 'invalid token'),
      async () => signed(payloadOf('1'), { token: await tokenOf({ tenant_id: ' ' }) }),
    ],
    [
      'GW-INV-09 AMB-119 a token of another context',
      401,
      errorOf(-32_000, 'invalid token'),
      async () => signed(payloadOf('1'), { token: await tokenOf({ scp: 'other' }) }),
    ],
    [
      'GW-INV-02 GW-INV-06 a token of our key and another issuer',
      401,
      errorOf(-32_000, 'invalid token'),
      async () => signed(payloadOf('1'), { token: await tokenOf({}, { ...key, issuer: 'windlass/' }) }),
    ],
    [
      'GW-INV-02 AMB-120 a token of the operators',
      401,
      errorOf(-32_000, 'invalid token'),
      async () => signed(payloadOf('1'), { token: await foreignToken('RS256', operatorKey.privateKey) }),
    ],
    [
      'GW-INV-02 AMB-120 a token that is signed with the public key as a secret',
      401,
      errorOf(-32_000, 'invalid token'),
      async () => {
        const pem = key.publicKey.export({ type: 'spki', format: 'pem' });
        return signed(payloadOf('1'), { token: await foreignToken('HS256', Buffer.from(pem)) });
      },
    ],
    [
      'AMB-118 an execution without a session',
      403,
      errorOf(-32_000, expect.any(String)),
      () => signed(payloadOf('1'), { executionId: 'nobody' }),
    ],
    [
      'AMB-130 an unknown tool',
      403,
      errorOf(-32_000, expect.stringContaining('UnknownTool')),
      () => signed(payloadOf('1', 'orders.put')),
    ],
    [
      'GW-INV-22 GW-INV-28 GW-INV-27 a null argument',
      422,
      errorOf(-32_602, "Invalid tool arguments: required field 'id' is missing or null for tool 'orders.get'"),
      () => signed({ ...payloadOf('1'), params: { name: 'orders.get', arguments: { id: null } } }),
    ],
    [
      'GW-INV-23 no name of a tool',
      400,
      errorOf(-32_600, 'Malformed envelope: payload.params.name must be the name of a tool'),
      () => signed({ ...payloadOf('1'), params: {} }),
    ],
  ])('refuses %s before anything runs', async (_name, status, body, envelope) => {
    await register();
    expect(await invoke(await envelope())).toEqual([status, body]);
    expect(replicas[0]?.begun).toEqual([]);
  });

  it.each<[string, number, object]>([
    ['bad', 400, errorOf(-32_602, "body_template of step 'read' gives no JSON", { error: 'Validation' })],
    ['gone', 404, errorOf(-32_000, 'the API spec was deleted', { error: 'NotFound' })],
    ['broken', 500, errorOf(-32_603, 'something is wrong with the service; its log tells more')],
  ])('GW-INV-26 answers as the table of errors says where a tool throws: %s', async (id, status, body) => {
    await register();
    expect(await invoke(signed(payloadOf(id)))).toEqual([status, body]);
  });

  it('GW-INV-26 answers why the controllers refuse a tool, whose schema is no reproach to the caller', async () => {
    await register();
    expect(await invoke(signed(payloadOf('1', 'orders.refused')))).toEqual([
      400,
      errorOf(-32_602, 'the tool cannot run: InvalidDefinition: spec.input_schema', { error: 'Validation' }),
    ]);
  });

  it.each<[string, object, string]>([
    [
      'GW-SESS-08 GW-INV-18 no pattern of the session',
      { allowed_tool_patterns: ['web.*'] },
      'the session does not permit',
    ],
    ['AMB-116 an empty list of patterns', { allowed_tool_patterns: [] }, 'the session does not permit'],
  ])('refuses a tool that matches %s', async (_name, change, text) => {
    await register(change);
    expect(await invoke(signed(payloadOf('1')))).toEqual([403, errorOf(-32_000, expect.stringContaining(text))]);
  });

  it.each<[string, SecurityContextSpec | undefined]>([
    ['a denied tool', { tools: ['*'], deny_list: ['orders.*'] }],
    ['a tool that is not listed', { tools: ['web.*'] }],
    ['a context that is not there', undefined],
  ])('GW-INV-25 AMB-195 AMB-131 refuses by policy before it looks at arguments: %s', async (_name, context) => {
    await register();
    security = context;
    const body = signed({ ...payloadOf('1'), params: { name: 'orders.get', arguments: {} } });
    expect((await invoke(body))[0]).toBe(403);
    expect(replicas[0]?.events.map(({ type }) => type)).toContain('ToolInvocationRefused');
  });

  it.each<[string, string, SecurityContextSpec, readonly [number, RegExp]]>([
    ['arguments that fit', 'fs.read', {}, [403, /^NoContainer: fs\.read runs in the container of an agent/]],
    ['the command tool', 'cmd.run', {}, [403, /^NoContainer: cmd\.run runs in the container of an agent/]],
    ['no arguments', 'fs.edit', {}, [422, /required field 'path' is missing or null for tool 'fs\.edit'$/]],
    ['a denied tool', 'fs.read', { deny_list: ['fs.*'] }, [403, /^PERMISSION_DENIED: /]],
  ])(
    'AMB-131 says of a tool that runs in containers that the gateway reaches none, after policy and arguments: %s',
    async (_title, name, context, [status, message]) => {
      await register({ allowed_tool_patterns: ['*'] });
      security = { max_calls: 1, ...context };
      const args = { 'fs.read': { path: '/workspace/a' }, 'cmd.run': { command: 'ls' } }[name] ?? {};
      for (let call = 0; call < 2; call++) {
        const body = signed({ ...payloadOf('1'), id: call, params: { name, arguments: args } });
        const [answered, { error }] = await invoke(body);
        expect([answered, error]).toEqual([
          status,
          expect.objectContaining({ message: expect.stringMatching(message) }),
        ]);
      }
      const reasons = replicas[0]?.events.flatMap(({ data }) => data['reason'] ?? []);
      expect(reasons).toHaveLength(2);
    },
  );

  it('AMB-195 counts max_calls over replicas', async () => {
    replicas.push(await startReplica(nats.connect()));
    security = { max_calls: 7 };
    await register();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, id) => invoke(signed(payloadOf(String(id))), id % 2)),
    );
    expect(answers.filter(([status]) => status === 200)).toHaveLength(7);
    expect(replicas.flatMap(({ begun }) => begun)).toHaveLength(7);
  });

  it('refuses to act where the intent cannot be stored', async () => {
    await register();
    isAuditAway = true;
    expect((await invoke(signed(payloadOf('1'))))[0]).toBe(503);
    expect(replicas[0]?.begun).toEqual([]);
  });

  it('GW-INV-25 answers a refusal as such where its event cannot be stored', async () => {
    await register();
    isAuditAway = true;
    security = { deny_list: ['orders.*'] };
    expect(await invoke(signed(payloadOf('1')))).toEqual([
      403,
      errorOf(-32_000, expect.stringContaining('is in deny_list')),
    ]);
  });

  it('GW-SESS-10 GW-OP-15 begins no call after DELETE has answered, with 200 under way over two replicas', async () => {
    replicas.push(await startReplica(nats.connect()));
    toolMs = 50;
    await register();
    const under = Array.from({ length: 200 }, (_, id) => invoke(signed(payloadOf(String(id))), id % 2));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [status] = await request(`/v1/seal/sessions/${executionId}`, { method: 'DELETE', at: 1 });
    const answered = Date.now();
    const statuses = (await Promise.all(under)).map(([code]) => code);
    const begun = replicas.flatMap((replica) => replica.begun);
    expect(status).toBe(200);
    expect(begun.length).toBeGreaterThan(0);
    expect(begun.filter((at) => at > answered)).toEqual([]);
    expect(statuses.filter((code) => code === 200)).toHaveLength(begun.length);
    expect(await invoke(aSigner().sign({ token, timestamp: seconds(), payload: payloadOf('x'), executionId }))).toEqual(
      [403, errorOf(-32_000, expect.stringContaining('not active'))],
    );
    expect((await register())[0]).toBe(409);
  });

  it('GW-SESS-10 answers DELETE when the calls that were under way have ended', async () => {
    toolMs = 400;
    await register();
    let answered = 0;
    const call = invoke(signed(payloadOf('1'))).then(([code]) => {
      answered = performance.now();
      return code;
    });
    await vi.waitFor(() => expect(replicas[0]?.begun).toHaveLength(1));
    const from = performance.now();
    await request(`/v1/seal/sessions/${executionId}`, { method: 'DELETE' });
    expect(performance.now() - from).toBeGreaterThan(300);
    expect([await call, answered > from]).toEqual([200, true]);
  });

  it('GW-INV-25 GW-SESS-10 answers 403 to a call that outlasts the revocation of its session', {
    timeout: 20_000,
  }, async () => {
    await register();
    const call = invoke(signed(payloadOf('endless')));
    await vi.waitFor(() => expect(replicas[0]?.begun).toHaveLength(1));
    hurry = 20;
    await request(`/v1/seal/sessions/${executionId}`, { method: 'DELETE' });
    const message = expect.stringContaining('the session was revoked');
    expect(await call).toEqual([403, errorOf(-32_000, message, { error: 'OutcomeUnknown' })]);
  });

  it('GW-INV-22 gives a tool no optional argument that is null, which its schema gives no meaning', async () => {
    await register();
    const params = { name: 'orders.get', arguments: { id: '1', note: null } };
    const [status, body] = await invoke(signed({ ...payloadOf('1'), params }));
    expect([status, body['result']]).toEqual([200, expect.objectContaining({ structuredContent: { id: '1' } })]);
  });

  it('aborts the tool whose caller is gone, and writes that it ended', async () => {
    await register();
    const gone = new AbortController();
    const headers = { 'content-type': 'application/json' };
    const options = {
      method: 'POST',
      headers,
      body: JSON.stringify(signed(payloadOf('endless'))),
      signal: gone.signal,
    };
    const call = fetch(`${replicas[0]?.url}/v1/invoke`, options);
    await vi.waitFor(() => expect(replicas[0]?.begun).toHaveLength(1));
    gone.abort();
    await expect(call).rejects.toThrow('aborted');
    const ended = { type: 'ToolInvocationCompleted', data: expect.objectContaining({ outcome: 'error' }) };
    await vi.waitFor(() => expect(replicas[0]?.events).toContainEqual(expect.objectContaining(ended)));
  });

  it('GW-OP-20 AMB-196 lists tools with search, source and the view of a context', async () => {
    const [, all] = await request('/v1/tools?source=workflow');
    expect(all).toMatchObject({
      items: [{ name: 'orders.get', source: 'workflow', skip_judge: false }],
      next_cursor: null,
    });
    const { items } = (await request('/v1/tools'))[1] as { readonly items: readonly { readonly name: string }[] };
    expect(items.map(({ name }) => name)).toEqual([...builtInTools.slice(0, 10), 'orders.get']);
    const files = await request('/v1/tools?security_context=desk&source=builtin');
    expect(files[1]).toMatchObject({ items: { length: 10 } });
    expect((await request('/v1/tools?source=workflow&q=READS'))[1]).toMatchObject({ items: [{ name: 'orders.get' }] });
    expect((await request('/v1/tools?q=nothing'))[1]).toMatchObject({ items: [] });
    expect((await request('/v1/tools?source=cli'))[1]).toMatchObject({ items: [] });
    security = { deny_list: ['orders.*'] };
    expect((await request('/v1/tools?source=workflow&security_context=desk'))[1]).toMatchObject({ items: [] });
  });
});

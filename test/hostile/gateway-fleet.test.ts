import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveBuiltinTools } from '../../api/tools/serve-builtin.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { createBuiltinSource } from '../../gateway/tools/builtin-source.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSealSessions, issueSession, issueToken, type SealKey } from '../../lib/envelope/index.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { aToolCaller } from '../builders/tool-caller.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { type GatewayWorld, startGatewayWorld } from '../support/gateway-world.ts';
import { aSigner, type Signer } from '../support/seal-world.ts';
import { createServiceToolsWorld, type ServiceToolsWorld } from '../support/service-tools.ts';
import { silentLogger } from '../support/silent-logger.ts';

/**
 * Signed calls of fleet tools at the gateway, which the API runs: HTTP, NATS, sessions and signatures are real, and a test
 * plays the operations of the API. Mallory is an operator without the scopes of fleets; she writes sessions, not contexts.
 */
const key: SealKey = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
const manage = 'svc.edge.fleet.manage';
const read = 'svc.edge.fleet.read';
let nats: TestBus;
let gateway: GatewayWorld;
let world: ServiceToolsWorld;
/** The context of every session; a test changes its fields. */
const security: SecurityContextSpec = {};
const stop = new AbortController();
/** Agents by the executions that run them. */
const running = new Map<string, ToolCaller>();
let ended: Promise<unknown>[] = [];

beforeAll(async () => {
  nats = await startTestBus();
  world = createServiceToolsWorld();
  const api = serveBuiltinTools({
    bus: nats.connect(),
    clock: systemClock,
    toolbox: createToolbox({ builtin_dispatchers: [] }, world.tools),
    tenants: { namespaceOf: (tenant) => `tenant-${tenant}` },
    runningCaller: async (executionId) => running.get(executionId),
  });
  await api.ready;
  const bus = nats.connect();
  const builtin = createBuiltinSource({ bus, clock: systemClock, logger: silentLogger });
  ended = [builtin.run(stop.signal).then(() => api.close(0))];
  gateway = await startGatewayWorld({
    bus,
    key,
    security,
    sources: [builtin],
    authenticate: async ({ authorization = '' }) => ({
      subject: 'mallory',
      kind: 'consumer',
      tenant: 'acme',
      isAdmin: false,
      scopes: authorization.replace('Bearer ', '').split('+'),
      until: Number.POSITIVE_INFINITY,
    }),
  });
  while (builtin.find('acme', 'svc.edge.fleet.invoke') === undefined) await systemClock.sleep(20);
});
afterAll(async () => {
  stop.abort();
  await gateway.close();
  await Promise.all(ended);
  await nats.stop();
});
beforeEach(() => {
  world.calls.length = 0;
  world.give = () => ({ ok: true });
  permit({ tier: 'operator' });
});

function permit(context: SecurityContextSpec): void {
  for (const field of ['tier', 'tools', 'deny_list'] as const) delete security[field];
  Object.assign(security, context);
}

interface Begun {
  readonly executionId: string;
  readonly token: string;
  readonly signer: Signer;
}

/** A session whose maker holds these scopes. */
async function begin(
  scopes: readonly string[],
  patterns: readonly string[] = ['*'],
  executionId: string = randomUUID(),
): Promise<Begun> {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { jti: randomUUID(), scp: 'default', tenant_id: 'acme', iat: now, exp: now + 600 };
  const [token, signer] = [await issueToken(key, claims), aSigner()];
  const response = await fetch(`${gateway.url}/v1/seal/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scopes.join('+')}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      execution_id: executionId,
      agent_id: 'desk',
      security_context: 'default',
      public_key_b64: signer.publicKey,
      security_token: token,
      allowed_tool_patterns: patterns,
    }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return { executionId, token, signer };
}

/** The session of the pod of an execution. */
async function attest(executionId: string): Promise<Begun> {
  const signer = aSigner();
  const bus = nats.connect();
  const deps = { key, sessions: createSealSessions(bus), clock: systemClock, newId: randomUUID };
  const request = { executionId, tenant: 'acme', podUid: 'p-1', securityContext: 'default' };
  const { security_token: token } = await issueSession(deps, { ...request, publicKey: signer.publicKey });
  return { executionId, token, signer };
}

const argumentsOf: Readonly<Record<string, object>> = {
  'svc.edge.fleet.invoke': { target: { All: null }, tool: 'cmd.run', args: { command: 'id' } },
  'svc.edge.fleet.list': { target: { All: null } },
  'svc.edge.fleet.cancel': { fleet_command_id: 'f-1' },
};
const tools = Object.keys(argumentsOf);

async function call({ executionId, token, signer }: Begun, name: string, args = argumentsOf[name]) {
  const payload = { jsonrpc: '2.0', id: randomUUID(), method: 'tools/call', params: { name, arguments: args } };
  const timestamp = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify(signer.sign({ token, timestamp, payload, executionId }));
  const response = await fetch(`${gateway.url}/v1/seal/invoke`, { method: 'POST', body });
  const answer = (await response.json()) as { error?: { code: number; message: string }; result?: object };
  return { status: response.status, ...answer };
}

describe('a signed call of a fleet tool', () => {
  it.each(tools)(
    'EDGE-TOOL-01 EDGE-TOOL-02 EDGE-TOOL-03 runs in a context and a session that permit it: %s',
    async (tool) => {
      expect(await call(await begin([manage, read]), tool)).toMatchObject({ status: 200, result: { isError: false } });
      expect(world.calls).toHaveLength(1);
    },
  );

  it.each<[title: string, scopes: readonly string[], context: SecurityContextSpec, refused: readonly string[]]>([
    ['whose maker holds no scope', [], { tier: 'operator' }, tools],
    ['whose maker may list alone', [read], { tier: 'operator' }, [tools[0] ?? '', tools[2] ?? '']],
    ['in the context of a user', [manage, read], {}, tools],
    ['in a context that denies them', [manage, read], { tier: 'operator', deny_list: ['svc.edge.*'] }, tools],
    ['in a context of other tools', [manage, read], { tier: 'operator', tools: ['orders.*'] }, tools],
  ])('EDGE-TOOL-04 GW-INV-25 is refused with 403 in a session %s', async (_title, scopes, context, refused) => {
    permit(context);
    const begun = await begin(scopes);
    for (const tool of refused)
      expect(await call(begun, tool)).toMatchObject({ status: 403, error: { code: -32_000 } });
    expect(world.calls).toEqual([]);
  });

  it('GW-SESS-08 is refused by the patterns of its session whatever its context and scopes are', async () => {
    const begun = await begin([manage, read], ['orders.*']);
    expect(await call(begun, 'svc.edge.fleet.list')).toMatchObject({ status: 403, error: { code: -32_000 } });
  });

  it('AMB-131 GW-INV-22 is refused by policy before its arguments are, and by its arguments before it runs', async () => {
    const [allowed, other] = [await begin([manage, read]), await begin([])];
    expect(await call(other, 'svc.edge.fleet.list', {})).toMatchObject({ status: 403, error: { code: -32_000 } });
    const message = "Invalid tool arguments: required field 'target' is missing or null for tool 'svc.edge.fleet.list'";
    const want = { status: 422, error: { code: -32_602, message, data: null } };
    for (const args of [{}, { target: null }])
      expect(await call(allowed, 'svc.edge.fleet.list', args)).toMatchObject(want);
    expect(world.calls).toEqual([]);
  });

  it('GW-INV-21 is refused by its signature first of all', async () => {
    const begun = await begin([]);
    const forged = { ...begun, signer: aSigner() };
    expect(await call(forged, 'svc.edge.fleet.list', {})).toMatchObject({ status: 401, error: { code: -32_000 } });
  });

  it.each(['of an operator', 'of the pod itself'])(
    'has the rights of the running agent in the session of its pod alone: %s',
    async (maker) => {
      const executionId = randomUUID();
      running.set(executionId, aToolCaller({ executionId, security: { tier: 'operator' }, subject: 'ada' }));
      const begun = maker === 'of an operator' ? await begin([], ['*'], executionId) : await attest(executionId);
      const isPod = maker === 'of the pod itself';
      const want = isPod ? { status: 200, result: { isError: false } } : { status: 403, error: { code: -32_000 } };
      expect(await call(begun, 'svc.edge.fleet.list')).toMatchObject(want);
      expect(world.calls).toHaveLength(isPod ? 1 : 0);
    },
  );

  it('keeps the scopes that its maker held, whatever another operator holds later', async () => {
    const begun = await begin([]);
    await begin([manage, read]);
    expect((await call(begun, 'svc.edge.fleet.invoke')).status).toBe(403);
  });
});

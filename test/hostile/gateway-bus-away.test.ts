import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { globalNamespace, labels } from '../../crds/labels.ts';
import { type OidcServer, startOidc } from '../../dev/oidc/server.ts';
import { userToken } from '../../dev/oidc/sign-in.ts';
import { systemClock } from '../../lib/clock.ts';
import { issueToken } from '../../lib/envelope/token.ts';
import { signEnvelope } from '../../lib/envelope/sign-envelope.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { startTestBus } from '../nats/test-bus.ts';
import { runCli } from '../support/cli.ts';
import { startGatewayReplica, startLists } from '../support/gateway-replica.ts';
import { answerJson, startHttpPeer } from '../support/http-peer.ts';
import { startTestMcpServer } from '../support/mcp-server.ts';

/** Longer than a connection that answers nothing takes to be given up, and than a call may take. */
const outageSeconds = 20;
/** Calls of an outage begin until then: each has more than its bound to end before NATS is back. */
const lastCallSecond = 12;

let provider: OidcServer;
beforeAll(async () => {
  provider = await startOidc();
});
afterAll(() => provider.close());

/** Answers of upstreams that a test holds back, by what the call says. Others are given at once. */
class Gates {
  readonly #held = new Map<string, { readonly reached: () => void; readonly opened: Promise<void> }>();

  hold(name: string) {
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#held.set(name, { reached: reached.resolve, opened: opened.promise });
    return { reached: reached.promise, open: opened.resolve };
  }

  async pass(name: string): Promise<void> {
    const gate = this.#held.get(name);
    gate?.reached();
    await gate?.opened;
  }
}

const uid = (digit: string): string => `${digit.repeat(8)}-1111-4111-8111-111111111111`;

/** The tool workflow `orders.pair`: two steps of one upstream. */
function objectsOf(server: string): Record<string, readonly KubeObject[]> {
  const step = (name: string) => ({
    name,
    operation_id: name,
    body_template: '{"id": "{{input.id}}"}',
    on_error: 'AbortWorkflow',
  });
  const operation = (operationId: string) => ({ post: { operationId } });
  const document = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Orders', version: '1' },
    servers: [{ url: server }],
    paths: { '/first': operation('first'), '/second': operation('second') },
  });
  const spec = { document, allow_internal_addresses: ['127.0.0.0/8'] };
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  const workflow = {
    description: 'd',
    input_schema: schema,
    api_spec: 'orders',
    steps: [step('first'), step('second')],
  };
  const objects: Record<string, readonly object[]> = {
    namespaces: [{ metadata: { name: 'tenant-acme', uid: uid('a'), labels: { [labels.tenant]: 'acme' } } }],
    apispecs: [{ metadata: { name: 'orders', namespace: globalNamespace, uid: uid('b'), resourceVersion: '1' }, spec }],
    toolworkflows: [
      {
        metadata: { name: 'orders-pair', namespace: globalNamespace, uid: uid('c'), resourceVersion: '1' },
        spec: { name: 'orders.pair', ...workflow },
      },
    ],
  };
  return objects as Record<string, readonly KubeObject[]>;
}

/** An upstream, an MCP server and a whole replica of the gateway, which write down what reached them. */
async function startWorld() {
  const gates = new Gates();
  const nats = await startTestBus();
  const upstream = await startHttpPeer(async ({ path, body }, response) => {
    const { id } = JSON.parse(body) as { readonly id: string };
    await gates.pass(`${id}${path}`);
    answerJson(response, 200, { of: `${id}${path}` });
  });
  const notes = await startTestMcpServer({
    tools: () => [{ name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } }],
    async call(_tool, { id }) {
      await gates.pass(`${String(id)}/note`);
      return { content: [{ type: 'text', text: 'a note' }] };
    },
  });
  const lists = await startLists(objectsOf(upstream.url));
  const key = { ...generateKeyPairSync('ed25519'), issuer: 'windlass', audience: 'windlass-tools' };
  const replica = await startGatewayReplica({
    nats: nats.server.url,
    notes: notes.url,
    notesSeconds: 8,
    lists,
    env: {
      SEAL_GATEWAY_OPERATOR_JWT_ISSUER: provider.issuer,
      SEAL_GATEWAY_OPERATOR_JWT_AUDIENCE: 'windlass',
      OIDC_ALLOW_HTTP: 'true',
      SEAL_GATEWAY_SEAL_JWT_PUBLIC_KEY_PEM: key.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      WINDLASS_TOOL_WORKFLOW_STEP_SECONDS: '120',
    },
  });
  const operator = await userToken(provider, { name: 'olga', tenant: 'acme', roles: ['svc:operator'] });
  return {
    gates,
    nats: nats.server,
    url: replica.url,
    key,
    operator,
    /** Everything that reached an upstream, once for each time. */
    reached: () => [
      ...upstream.requests.map(({ path, body }) => `${(JSON.parse(body) as { readonly id: string }).id}${path}`),
      ...notes.calls.map(({ args }) => `${String((args as { readonly id: unknown }).id)}/note`),
    ],
    async close() {
      await replica.close();
      await Promise.all([upstream.close(), notes.close(), lists.close(), nats.stop()]);
    },
  };
}

type World = Awaited<ReturnType<typeof startWorld>>;

async function request({ url, operator }: World, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return (await fetch(`${url}${path}`, init)).status;
}

/** A session of an operator, whose calls the result signs. */
async function aSession(world: World, executionId: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { jti: executionId, scp: 'default', tenant_id: 'acme', iat, exp: iat + 600 };
  const token = await issueToken(world.key, claims);
  const body = {
    execution_id: executionId,
    agent_id: 'desk',
    security_context: 'default',
    public_key_b64: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
    security_token: token,
  };
  expect(await request(world, 'POST', '/v1/seal/sessions', body)).toBe(200);
  const envelope = (tool: string, id: string) =>
    signEnvelope(privateKey, { executionId, token, tool, arguments: { id }, id, now: Date.now() });
  const send = async (signed: object, path = '/v1/invoke') => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${world.url}${path}`, { method: 'POST', headers, body: JSON.stringify(signed) });
    return { status: response.status, text: await response.text() };
  };
  return { envelope, send, call: (tool: string, id: string, path?: string) => send(envelope(tool, id), path) };
}

type Session = Awaited<ReturnType<typeof aSession>>;

/** Calls whose upstream has them when NATS falls away. Those of the MCP server come last: it has eight seconds for each. */
async function callsInFlight(world: World, session: Session) {
  const held = { between: '/first', last: '/second', across: '/first', note: '/note', silent: '/note' };
  const calls = new Map<string, { answer: ReturnType<Session['send']>; signed: object; open: () => void }>();
  for (const [id, path] of Object.entries(held)) {
    const gate = world.gates.hold(`${id}${path}`);
    const signed = session.envelope(path === '/note' ? 'notes.read' : 'orders.pair', id);
    const answer = session.send(signed);
    await gate.reached;
    calls.set(id, { answer, signed, open: gate.open });
  }
  return (id: keyof typeof held) => {
    const call = calls.get(id);
    if (call === undefined) throw new Error(`there is no call ${id}`);
    return call;
  };
}

/** Every second, calls over both paths, a call that was made before, and requests of operators. Resolves to their statuses. */
async function callsOfOutage(world: World, session: Session, before: object) {
  const answers: { readonly what: string; readonly answer: Promise<number> }[] = [];
  let open = 0;
  const add = (what: string, answer: Promise<number>): void => {
    open += 1;
    answers.push({ what, answer: answer.finally(() => (open -= 1)) });
  };
  for (let second = 0; second < lastCallSecond; second += 1) {
    const status = async (answer: Promise<{ readonly status: number }>): Promise<number> => (await answer).status;
    add('call', status(session.call('orders.pair', `new-${second}`)));
    add('alias', status(session.call('orders.pair', `alias-${second}`, '/v1/seal/invoke')));
    add('mcp server', status(session.call('notes.read', `read-${second}`)));
    add('again', status(session.send(before)));
    if (second % 5 === 2) {
      add('revocation', request(world, 'DELETE', '/v1/seal/sessions/victim'));
      add('audit', request(world, 'GET', '/v1/audit-events'));
    }
    await systemClock.sleep(1_000);
  }
  await systemClock.sleep((outageSeconds - lastCallSecond) * 1_000);
  const left = open;
  const statuses = await Promise.all(answers.map(async ({ what, answer }) => `${what} ${await answer}`));
  return { left, statuses: [...new Set(statuses)].toSorted() };
}

interface AuditRow {
  readonly type: string;
  readonly invocationid?: string;
}

describe.concurrent('a gateway whose NATS is away for twenty seconds with calls in flight', () => {
  it.each([
    ['is killed', (nats: World['nats']) => nats.kill(), (nats: World['nats']) => nats.start()],
    ['answers nothing', (nats: World['nats']) => nats.freeze(), async (nats: World['nats']) => nats.thaw()],
  ])(
    'GW-INV-17 GW-INV-19 that %s ends each call, makes none twice, and has a whole audit afterwards',
    async (_what, leave, comeBack) => {
      const world = await startWorld();
      const { nats } = world;
      const [session] = [await aSession(world, 'run-1'), await aSession(world, 'victim')];
      await vi.waitFor(async () => expect((await session.call('notes.read', 'warm')).status).toBe(200), 20_000);
      const callOf = await callsInFlight(world, session);

      await leave(nats);
      const outage = callsOfOutage(world, session, callOf('last').signed);
      for (const id of ['between', 'last', 'note'] as const) callOf(id).open();
      const unsure = { status: 200, text: expect.stringContaining('OutcomeUnknown: step first was sent') };
      expect(await callOf('between').answer).toMatchObject(unsure);
      expect(await callOf('last').answer).toMatchObject({
        status: 200,
        text: expect.stringContaining('"isError":false'),
      });
      expect(await callOf('note').answer).toMatchObject({ status: 200, text: expect.stringContaining('a note') });
      // The time of the MCP server is up.
      expect(await callOf('silent').answer).toMatchObject({
        status: 200,
        text: expect.stringContaining('"isError":true'),
      });
      const { left, statuses } = await outage;
      expect([left, statuses]).toEqual([
        0,
        ['again 503', 'alias 503', 'audit 503', 'call 503', 'mcp server 503', 'revocation 503'],
      ]);

      await comeBack(nats);
      await vi.waitFor(async () => expect((await session.call('orders.pair', 'after')).status).toBe(200), 30_000);
      callOf('across').open();
      expect(await callOf('across').answer).toMatchObject({
        status: 200,
        text: expect.stringContaining('"isError":false'),
      });
      expect((await session.send(callOf('last').signed)).status).toBe(401);
      expect(await request(world, 'DELETE', '/v1/seal/sessions/victim')).toBe(200);

      const reached = world.reached().filter((name) => !name.startsWith('warm'));
      expect(reached.toSorted()).toEqual([
        'across/first',
        'across/second',
        'after/first',
        'after/second',
        'between/first',
        'last/first',
        'last/second',
        'note/note',
        'silent/note',
      ]);
      const env = { WINDLASS_GATEWAY: world.url, WINDLASS_TOKEN: world.operator };
      const verified = await runCli(['gateway', 'audit', 'verify'], env);
      expect([verified.code, verified.notes]).toEqual([0, '']);
      const events = JSON.parse((await runCli(['gateway', 'audit', 'list', '-o', 'json'], env)).out) as AuditRow[];
      const of = (type: string) => events.filter((event) => event.type === type);
      // The request of an intent that was written when NATS went away has not left.
      expect([7, 8]).toContain(of('WorkflowStepStarted').length);
      expect(of('WorkflowStepExecuted')).toHaveLength(7);
      const idsOf = (type: string) => of(type).map(({ invocationid: id }) => id);
      expect(new Set(idsOf('ToolInvocationCompleted'))).toEqual(new Set(idsOf('ToolInvocationStarted')));
      expect(of('ToolInvocationCompleted')).toHaveLength(7);
      await world.close();
    },
    180_000,
  );
});

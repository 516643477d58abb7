import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createConversationFeed } from '../../api/agents/conversation/live.ts';
import { createGatewayCalls } from '../../api/agents/registered/call-gateway.ts';
import { createRegisteredTools, type RegisteredToolSource } from '../../api/agents/registered/registered-tools.ts';
import { createToolSessions } from '../../api/agents/registered/tool-sessions.ts';
import { createGatewayClient } from '../../client/index.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSealSessions } from '../../lib/envelope/index.ts';
import { newId } from '../../lib/ids.ts';
import type { ModelReply, ModelRequest } from '../../lib/models/models.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { createLargeAnswers } from '../../lib/tools/web/answer-room.ts';
import { executionOf, type Replica, replyOf, SharedExecutions, specOf, startReplica } from '../agents/replica.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { echoTool, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { silentLogger } from '../support/silent-logger.ts';

/** The API's drivers and a gateway over HTTP, on one NATS server; the tools and the model are the test's. */
let nats: TestBus;
let gateway: TestGateway;
const open: Replica[] = [];
const ran: string[] = [];

const counted = (name: string) => {
  const tool = echoTool(name);
  const call: typeof tool.call = (...given) => {
    ran.push(name);
    return tool.call(...given);
  };
  return { ...tool, call };
};

beforeAll(async () => {
  nats = await startTestBus();
  const builtin = { ...counted('svc.tools.list'), source: 'builtin' as const };
  gateway = await startTestGateway(nats.connect(), [counted('orders.place'), counted('stock.read'), builtin]);
  gateway.contexts.set('desk', { tools: ['orders.*', 'stock.*'] });
}, 300_000);
afterEach(async () => {
  ran.length = 0;
  await Promise.all(open.splice(0).map((replica) => replica.stop()));
});
afterAll(async () => {
  await gateway.close();
  await nats.stop();
});

/** Parts of one replica of the API. */
function sourceOf(url = gateway.url, bus = nats.connect()): RegisteredToolSource {
  const deps = { bus, clock: systemClock, logger: silentLogger, newId };
  const sessions = createToolSessions({ ...deps, key: gateway.key, sessions: createSealSessions(bus) });
  return createRegisteredTools({
    ...deps,
    call: createGatewayCalls({ ...deps, room: createLargeAnswers(deps.clock), sessions, url }),
  });
}

const desk: AgentSpec = specOf({ tools: [{ name: 'orders.place' }], security: { context: 'desk' } });
const signerOf = (session: string) => ({ session, name: 'worker', context: 'desk', tools: ['orders.place'] });
const asked: ModelRequest[] = [];

interface Run {
  readonly spec?: AgentSpec;
  readonly security?: SecurityContextSpec;
  readonly registered?: RegisteredToolSource;
  readonly replies: readonly ModelReply[];
}

/** Runs an agent to its end; resolves to what the model was asked at last. */
async function run(uid: string, { spec = desk, security = {}, registered = sourceOf(), replies }: Run) {
  const shared = new SharedExecutions();
  const ask = async (request: ModelRequest): Promise<ModelReply> => {
    asked.push(request);
    return replies[request.messages.filter(({ role }) => role === 'assistant').length] ?? replyOf('done');
  };
  const toolbox = createToolbox({ builtin_dispatchers: [] });
  open.push(startReplica({ bus: nats.connect(), shared, ask, spec, security, registered, toolbox }));
  shared.put(executionOf(uid));
  await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000, interval: 20 });
  return { outcome: shared.outcomes[0], last: asked.at(-1) };
}

const operator = () => createGatewayClient({ server: gateway.url, token: 'acme' });
const eventsOf = async (executionId: string) =>
  (await operator().listAuditEvents({ limit: 200 })).items.filter(({ data }) => data['execution_id'] === executionId);
const order = replyOf('', [['orders.place', { item: 'tea' }]]);

describe('an agent whose manifest names a registered tool', () => {
  it('is offered it with its schema, calls it by a signed envelope, and the audit shows the call', async () => {
    const { outcome, last } = await run('whole', { replies: [order, replyOf('ordered')] });
    expect(outcome).toMatchObject({ phase: 'completed', output: 'ordered', tool_calls: 1 });
    expect(last?.tools).toMatchObject([{ name: 'orders.place', input_schema: { required: ['item'] } }]);
    expect(last?.messages.at(-1)).toMatchObject({ role: 'tool', content: '{"item":"tea"}' });
    const events = await eventsOf('agent-whole');
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['ToolInvocationStarted', 'worker'],
      ['ToolInvocationCompleted', 'worker'],
    ]);
  });

  it.each<[string, AgentSpec['tools'], SecurityContextSpec, string[]]>([
    ['every tool that begins so', [{ name: 'orders.*' }], {}, ['orders.place']],
    ['none that it does not name', [{ name: 'stock.write' }], {}, []],
    ['none that its context denies', [{ name: 'orders.place' }], { deny_list: ['orders.*'] }, []],
    ['built-in tools by the API alone', [{ name: 'svc.tools.list' }, { name: 'stock.read' }], {}, ['stock.read']],
  ])('is offered %s', async (_title, tools, security, names) => {
    const spec = specOf({ tools, security: { context: 'desk' } });
    const { last } = await run(`offer-${newId()}`, { spec, security, replies: [] });
    expect(last?.tools.map(({ name }) => name)).toEqual(names);
  });

  it('AGENT-15 is refused every other one, and the gateway hears nothing', async () => {
    const stock = replyOf('', [['stock.read', { item: 'tea' }]]);
    const { last } = await run('other', { replies: [stock] });
    expect(last?.messages.at(-1)).toMatchObject({ content: expect.stringContaining('UnknownTool') });
    expect([ran, await eventsOf('agent-other')]).toEqual([[], []]);
  });

  it('reads the mistakes of its arguments', async () => {
    const { last } = await run('arguments', { replies: [replyOf('', [['orders.place', {}]])] });
    expect(last?.messages.at(-1)).toMatchObject({ content: expect.stringContaining("required field 'item'") });
    expect(ran).toEqual([]);
  });

  it('reads the refusal of a gateway whose context is narrower by now', async () => {
    const registered = sourceOf();
    await run('narrow-1', { registered, replies: [] });
    gateway.contexts.set('desk', { tools: ['stock.*'] });
    const { last } = await run('narrow-2', { registered, replies: [order] });
    gateway.contexts.set('desk', { tools: ['orders.*', 'stock.*'] });
    expect(last?.messages.at(-1)).toMatchObject({ content: expect.stringMatching(/^Refused: ToolNotAllowed/) });
    expect((await eventsOf('agent-narrow-2')).map(({ type }) => type)).toEqual(['ToolInvocationRefused']);
  });

  it('GW-SESS-10 calls nothing more once an operator has revoked its session', async () => {
    const revoked = replyOf('', [['orders.place', { item: 'again' }]]);
    const shared = sourceOf();
    const registered: RegisteredToolSource = {
      async offered(caller, signal) {
        if (ran.length === 1) await operator().revokeSession({ execution_id: 'agent-revoked' });
        return shared.offered(caller, signal);
      },
    };
    const { last } = await run('revoked', { registered, replies: [order, revoked] });
    expect(last?.messages.at(-1)).toMatchObject({ content: expect.stringContaining('revoked') });
    expect(ran).toEqual(['orders.place']);
  });

  it('continues when another replica drives it, which signs with its own key, and back', async () => {
    const caller = {
      tenant: 'acme',
      namespace: 'acme',
      subject: 'anna',
      executionId: 'moved',
      security: {},
      mounts: [],
      signer: signerOf('moved'),
    };
    const { signal } = new AbortController();
    const [first, second] = [sourceOf(), sourceOf()];
    for (const replica of [first, second, first, first]) {
      const [tool] = await replica.offered(caller, signal);
      if (tool?.run.kind !== 'api') throw new Error('no tool');
      expect(await tool.run.run(caller, { item: 'tea' }, signal)).toMatchObject({ isError: false });
    }
    expect(ran).toHaveLength(4);
  });

  it('reads that the outcome is unknown where no answer comes', async () => {
    const { last } = await run('silent', { registered: sourceOf('http://127.0.0.1:1'), replies: [order] });
    expect(last?.messages.at(-1)).toMatchObject({ content: expect.stringMatching(/^OutcomeUnknown/) });
  });

  it('waits where no gateway answers at all', async () => {
    const alone = await startTestBus();
    const source = sourceOf(gateway.url, alone.connect());
    const caller = { tenant: 'acme', namespace: 'acme', subject: 'anna', executionId: 'x', security: {}, mounts: [] };
    const offered = source.offered({ ...caller, signer: signerOf('x') }, AbortSignal.timeout(20_000));
    await expect(offered).rejects.toMatchObject({ code: 'unavailable', reason: 'GatewayUnavailable' });
    await alone.stop();
  });

  it('writes each call down as any other tool call', async () => {
    const feed = createConversationFeed(nats.connect(), systemClock);
    const kinds = (await feed.read('acme', 'whole', 0)).map(({ record }) => record.kind);
    expect(kinds).toEqual(expect.arrayContaining(['tool_started', 'tool_ended']));
  });
});

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGatewayCalls } from '../../../api/agents/registered/call-gateway.ts';
import { createRegisteredTools } from '../../../api/agents/registered/registered-tools.ts';
import { createToolSessions } from '../../../api/agents/registered/tool-sessions.ts';
import { createGatewayClient } from '../../../client/index.ts';
import { createMcpSource } from '../../../gateway/tools/mcp-source.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createSealSessions } from '../../../lib/envelope/index.ts';
import { newId } from '../../../lib/ids.ts';
import { createMcpServers, type McpServers } from '../../../lib/mcp/index.ts';
import type { ModelReply, ModelRequest } from '../../../lib/models/models.ts';
import { Secret } from '../../../lib/node-config/index.ts';
import { createToolbox } from '../../../lib/tools/toolbox.ts';
import { createLargeAnswers } from '../../../lib/tools/web/answer-room.ts';
import { executionOf, type Replica, replyOf, SharedExecutions, specOf, startReplica } from '../../agents/replica.ts';
import { startTestBus, type TestBus } from '../../nats/test-bus.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { startTestMcpServer, type TestMcpServer } from '../../support/mcp-server.ts';
import { silentLogger } from '../../support/silent-logger.ts';

/** The driver of conversations, a gateway over HTTP and an MCP server over HTTP; the model is the test's. */
const canary = 'canary-mcp-key-5e2b';
const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] };
const tools = ['read', 'write'].map((name) => ({ name, description: `Can ${name}.`, inputSchema }));
let nats: TestBus;
let notes: TestMcpServer;
let servers: McpServers;
let gateway: TestGateway;
const replicas: Replica[] = [];
const stop = new AbortController();
let running: Promise<void>;

beforeAll(async () => {
  nats = await startTestBus();
  notes = await startTestMcpServer({
    tools: () => tools,
    call: async (tool, { text }) => ({ content: [{ type: 'text', text: `${tool}: ${String(text)}` }] }),
  });
  const entry = {
    name: 'notes',
    url: notes.url,
    api_key: new Secret(canary),
    allow_internal_addresses: ['127.0.0.0/8'],
    capabilities: [{ name: 'read', skip_judge: true }],
  };
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  servers = createMcpServers(
    { clock: systemClock, logger: silentLogger, resolve, room: createLargeAnswers(systemClock) },
    [entry],
  );
  running = servers.run(stop.signal);
  while ([...servers.list('acme')].length < tools.length) await systemClock.sleep(20);
  gateway = await startTestGateway(nats.connect(), [...createMcpSource(servers).list('acme')]);
  gateway.contexts.set('desk', { tools: ['notes.*'] });
}, 60_000);
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  stop.abort();
  await running;
  await servers.close();
  await gateway.close();
  await notes.close();
  await nats.stop();
});

function registeredOf() {
  const bus = nats.connect();
  const deps = { bus, clock: systemClock, logger: silentLogger, newId };
  const sessions = createToolSessions({ ...deps, key: gateway.key, sessions: createSealSessions(bus) });
  const calling = { ...deps, room: createLargeAnswers(deps.clock), sessions, url: gateway.url };
  return createRegisteredTools({ ...deps, call: createGatewayCalls(calling) });
}

describe('an agent whose manifest names tools of an MCP server', () => {
  const spec = specOf({ tools: [{ name: 'notes.*' }], security: { context: 'desk' } });

  it('TOOL-RULE-04 is offered them, with the word of the operator about the judge', async () => {
    const signer = { session: 'agent-x', name: 'worker', context: 'desk', tools: ['notes.*'] };
    const caller = { tenant: 'acme', namespace: 'acme', subject: 'anna', executionId: 'x', security: {}, mounts: [] };
    const offered = await registeredOf().offered({ ...caller, signer }, new AbortController().signal);
    const toolbox = createToolbox({ builtin_dispatchers: [] });
    expect(offered.map((tool) => [tool.name, tool.input_schema, toolbox.isJudged(tool)])).toEqual([
      ['notes.read', inputSchema, false],
      ['notes.write', inputSchema, true],
    ]);
  });

  it('GEN-07 calls one through the gateway, whose audit shows the call, and never sees the key', async () => {
    const asked: ModelRequest[] = [];
    const call = replyOf('', [['notes.write', { text: 'tea' }]]);
    const ask = async (request: ModelRequest): Promise<ModelReply> => {
      asked.push(request);
      return asked.length === 1 ? call : replyOf('written');
    };
    const shared = new SharedExecutions();
    const toolbox = createToolbox({ builtin_dispatchers: [] });
    const parts = { bus: nats.connect(), shared, ask, spec, security: {}, registered: registeredOf(), toolbox };
    replicas.push(startReplica(parts));
    shared.put(executionOf('mcp'));
    await vi.waitFor(() => expect(shared.outcomes).toHaveLength(1), { timeout: 20_000, interval: 20 });
    expect(shared.outcomes[0]).toMatchObject({ phase: 'completed', output: 'written', tool_calls: 1 });
    expect(asked.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'write: tea' });
    expect(notes.calls).toEqual([{ tool: 'write', args: { text: 'tea' } }]);
    const { items } = await createGatewayClient({ server: gateway.url, token: 'acme' }).listAuditEvents({ limit: 200 });
    expect(items.map(({ type, data }) => [type, data['source'], data['tool']])).toEqual([
      ['ToolInvocationStarted', 'mcp', 'notes.write'],
      ['ToolInvocationCompleted', 'mcp', 'notes.write'],
    ]);
    expect(notes.requests.some(({ headers }) => headers.authorization === `Bearer ${canary}`)).toBe(true);
    expect(JSON.stringify([asked, items, shared.outcomes])).not.toContain(canary);
  });
});

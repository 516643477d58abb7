import { generateKeyPairSync } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { memoryUsage } from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConversationFeed } from '../../api/agents/conversation/live.ts';
import { createAttestations } from '../../api/agents/pods/attestations.ts';
import { createPodIdentity } from '../../api/agents/pods/pod-identity.ts';
import { createAgentPodRoutes } from '../../api/routes/agent-pods/index.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { systemClock } from '../../lib/clock.ts';
import { conversationLimits } from '../../lib/conversation/limits.ts';
import { conversationLogs } from '../../lib/conversation/record.ts';
import { createSealSessions } from '../../lib/envelope/index.ts';
import { bodyLimits } from '../../lib/http/body-limits.ts';
import { newId } from '../../lib/ids.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import { collectGarbage } from '../../lib/process/collect-garbage.ts';
import { executionOf } from '../agents/replica.ts';
import { startTestBus, type TestBus } from '../nats/test-bus.ts';
import { requestText, startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';

/**
 * The attacker runs 200 agents whose conversations are as long as they may be. All of their pods ask for the final answer at
 * once, and read nothing of what comes.
 */
const pods = 200;
const mib = 1_048_576;
const text = 'x'.repeat(conversationLimits.toolContentLength);
const texts = conversationLimits.heldBytes / (2 * text.length) - 1;

let nats: TestBus;
let server: TestServer;
const sockets: Socket[] = [];
const executions = new Map<string, AgentExecution>();
const attacker = (index: number): string => `eve-${index}`;

const kube = {
  get: async () => ({
    metadata: { name: 'run', namespace: 'any', uid: 'pod-1' },
    spec: { containers: [] },
    status: { podIP: '127.0.0.1' },
  }),
  reviewToken: async () => ({ isAuthenticated: false }),
} as unknown as KubeClient;

beforeAll(async () => {
  nats = await startTestBus();
  const bus = await nats.connected();
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const attestations = createAttestations({
    key: { privateKey, publicKey, issuer: 'windlass', audience: 'windlass-tools' },
    sessions: createSealSessions(bus),
    clock: systemClock,
    newId,
  });
  const feed = createConversationFeed(bus, systemClock);
  server = await startTestServer(
    createAgentPodRoutes<TestCaller>({
      clock: systemClock,
      executions: { cache: { getByUid: (uid) => executions.get(uid), byIndex: () => [] } },
      tenants: { tenantOf: (namespace) => namespace },
      identity: createPodIdentity({ kube, clock: systemClock }),
      attestations,
      drivers: { run: async () => undefined, open: async () => undefined },
      // All executions of a tenant read one log, which is stored once.
      feed: { ...feed, read: (tenant, _uid, after, page) => feed.read(tenant, 'long', after, page) },
      securityOf: async () => ({ name: 'default', tools: ['*'], waiting: [] }),
      modelOf: async () => 'default',
    }),
  );
  const at = '2026-01-01T00:00:00.000Z';
  for (const tenant of ['eve', 'bob']) {
    const write = (record: object) =>
      bus.logs(conversationLogs).append({ tenant, key: 'long', body: JSON.stringify({ at, ...record }) });
    await write({ kind: 'started', agent_id: 'a', agent: 'a', version: '1.0.0', system: 's', input: 'i', model: 'm' });
    for (let call = 0; call < texts; call += 1)
      await write({ kind: 'tool_ended', call_id: `${call}`, tool: 't', content: text, is_error: false, ran: true });
    await write({ kind: 'ended', result: { outcome: 'completed', output: 'done', at } });
  }
  const names = ['bob', ...Array.from({ length: pods }, (_, index) => attacker(index))];
  for (const uid of names) {
    const namespace = uid.split('-')[0] ?? '';
    const execution = executionOf(uid, { namespace });
    executions.set(uid, execution);
    await attestations.attest({
      tenant: namespace,
      executionId: uid,
      agentId: 'agent-1',
      podUid: 'pod-1',
      publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      securityContext: 'default',
      allowedToolPatterns: ['*'],
      waitingToolPatterns: [],
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
    const spec = { ...execution.spec, result: { outcome: 'completed', output: 'done', at } };
    executions.set(uid, { ...execution, spec } as unknown as AgentExecution);
  }
}, 120_000);
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
  await nats.stop();
});

const asked = (uid: string): string =>
  JSON.stringify({
    type: 'generate',
    agent_id: 'agent-1',
    execution_id: uid,
    iteration_number: 1,
    model_alias: 'default',
    prompt: '',
    messages: [],
  });

/** Head of an answer of which no more is read than its first bytes. */
function headOf(uid: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write(requestText('POST /v1/dispatch-gateway', ['Content-Type: application/json'], asked(uid)));
  return new Promise((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause();
      resolve((chunk as Buffer).toString('latin1'));
    });
  });
}

const held = (): number => {
  collectGarbage();
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
};

it('AMB-038 many pods of one tenant take their share of memory for final answers, and keep no other tenant from its own', {
  timeout: 180_000,
}, async () => {
  const before = held();
  const heads = Promise.all(Array.from({ length: pods }, (_, index) => headOf(attacker(index))));
  // Some of them have their answers under way by then.
  await expect.poll(() => sockets.filter((socket) => socket.isPaused()).length, { timeout: 60_000 }).toBeGreaterThan(0);
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${server.url}/v1/dispatch-gateway`, { method: 'POST', headers, body: asked('bob') });
  expect(answer.status).toBe(200);
  const { type, content, conversation } = (await answer.json()) as Record<string, unknown>;
  expect([type, content, JSON.stringify(conversation).length > texts * text.length]).toEqual(['final', 'done', true]);
  const underWay = held();
  const found = await heads;
  const refused = found.filter((head) => head.startsWith('HTTP/1.1 503'));
  // How many are refused depends on how fast the machine serves the others within their wait.
  for (const head of refused) expect(head).toMatch(/Retry-After: \d+/i);
  expect(refused.filter((head) => head.includes('final answers of this tenant'))).not.toHaveLength(0);
  expect(Math.max(underWay, held()) - before).toBeLessThan(2 * bodyLimits.parsed.pod + 64 * mib);
});

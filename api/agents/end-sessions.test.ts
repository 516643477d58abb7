import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { systemClock } from '../../lib/clock.ts';
import { createSealSessions, type SealSession, type SealSessions } from '../../lib/envelope/index.ts';
import type { InformerChange } from '../../lib/informer/index.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createEndSessions } from './end-sessions.ts';
import { toolSessionId } from './registered/tool-sessions.ts';

/** Sessions in real NATS, and a watch that a test plays. */
let nats: TestBus;
let sessions: SealSessions;
let tell: (change: Pick<InformerChange<AgentExecution>, 'before' | 'after'> & { readonly own?: boolean }) => void;
let stop: AbortController;
let running: Promise<void>;
let next = 0;
/** Tenants by their namespace. */
let namespaces: Map<string, string>;

beforeAll(async () => {
  nats = await startTestBus();
  const bus = nats.connect();
  while (bus.problem() !== undefined) await systemClock.sleep(20);
  sessions = createSealSessions(bus);
});
afterAll(() => nats.stop());
beforeEach(() => {
  namespaces = new Map([['windlass-acme', 'acme']]);
  const handlers: ((change: InformerChange<AgentExecution>) => void)[] = [];
  tell = (change) => {
    for (const handler of handlers) handler({ key: 'k', own: false, ...change });
  };
  stop = new AbortController();
  const executions = { onChange: (handler: (typeof handlers)[number]) => void handlers.push(handler) };
  const tenants = { tenantOf: (namespace: string) => namespaces.get(namespace) };
  const deps = { executions, sessions, tenants, clock: systemClock, logger: silentLogger };
  running = createEndSessions(deps).run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

function anExecution(parts: object = {}): AgentExecution {
  const { spec = {}, status = {}, metadata = {} } = parts as Record<string, object>;
  return {
    metadata: { name: 'e', namespace: 'windlass-acme', uid: `e-${next}`, ...metadata },
    spec: { agent: 'coder', ...spec },
    status: { phase: 'running', ...status },
  } as unknown as AgentExecution;
}

const aSession = (executionId: string): SealSession => ({
  execution_id: executionId,
  session_id: 's',
  agent_id: 'coder',
  public_key: '',
  pod_uid: 'p',
  security_context: 'default',
  tenant: 'acme',
  allowed_tool_patterns: ['*'],
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
});

/** The sessions of a running execution: that of its pod, and that of its registered tools. */
async function begin(): Promise<readonly [pod: string, tools: string]> {
  next += 1;
  const ids = [`e-${next}`, toolSessionId(`e-${next}`)] as const;
  for (const id of ids) await sessions.create(aSession(id));
  return ids;
}

const isRevoked = async (execution_id: string): Promise<boolean> =>
  (await sessions.find({ tenant: 'acme', execution_id }))?.revoked === true;

describe('the sessions of an execution of an agent', () => {
  it.each<[string, object | undefined]>([
    ['finished', { status: { phase: 'completed' } }],
    ['failed', { status: { phase: 'failed' } }],
    ['got its outcome', { spec: { result: { outcome: 'completed' } } }],
    ['been cancelled', { spec: { cancel: { by: 'ada' } } }],
    ['a deletion timestamp', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['been deleted', undefined],
  ])('ATTEST-08 are revoked when it has %s, and no pod gets another', async (_title, end) => {
    const ids = await begin();
    tell({ before: anExecution(), after: end && anExecution(end) });
    for (const id of ids) {
      await expect.poll(() => isRevoked(id), { timeout: 20_000 }).toBe(true);
      await expect(sessions.create(aSession(id))).rejects.toMatchObject({ code: 'conflict' });
    }
  });

  it('continue while it waits for a person, or gets another pod', async () => {
    const [pod] = await begin();
    tell({ before: anExecution(), after: anExecution({ status: { phase: 'waiting' } }) });
    const kept = next;
    const [other] = await begin();
    tell({ before: anExecution(), after: undefined });
    await expect.poll(() => isRevoked(other), { timeout: 20_000 }).toBe(true);
    expect([pod, await isRevoked(pod)]).toEqual([`e-${kept}`, false]);
  });

  it('are revoked for an execution that had ended before this process began', async () => {
    const [pod] = await begin();
    tell({ before: undefined, after: anExecution({ status: { phase: 'completed' } }) });
    await expect.poll(() => isRevoked(pod), { timeout: 20_000 }).toBe(true);
  });

  it('are revoked where this process read the end before the watch brought it', async () => {
    const [pod] = await begin();
    const ended = anExecution({ spec: { cancel: { by: 'ada' } } });
    tell({ before: ended, after: ended, own: true });
    await expect.poll(() => isRevoked(pod), { timeout: 20_000 }).toBe(true);
  });

  it('are revoked where the namespace of the tenant is deleted with the execution', async () => {
    const [pod] = await begin();
    tell({ before: anExecution(), after: undefined });
    namespaces.clear();
    await expect.poll(() => isRevoked(pod), { timeout: 20_000 }).toBe(true);
  });

  it('are revoked where the namespace is gone before its execution, which had ended', async () => {
    const [pod] = await begin();
    const ended = anExecution({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    tell({ before: anExecution(), after: ended });
    namespaces.clear();
    tell({ before: ended, after: undefined });
    await expect.poll(() => isRevoked(pod), { timeout: 20_000 }).toBe(true);
  });

  it('are revoked in the tenant of the claim, whose namespace is no tenant at the end or another one', async () => {
    for (const tenant of [undefined, 'globex']) {
      const [pod] = await begin();
      namespaces.clear();
      if (tenant !== undefined) namespaces.set('windlass-acme', tenant);
      const metadata = { annotations: { [annotations.conversation]: 'acme/0' } };
      tell({ before: undefined, after: anExecution({ metadata, status: { phase: 'completed' } }) });
      await expect.poll(() => isRevoked(pod), { timeout: 20_000 }).toBe(true);
    }
  });

  it('are revoked once the tenant of the namespace is known, and hold up no others until then', async () => {
    const [pod] = await begin();
    namespaces.clear();
    tell({ before: undefined, after: anExecution({ status: { phase: 'completed' } }) });
    const [other] = await begin();
    namespaces.set('windlass-other', 'acme');
    tell({
      before: anExecution(),
      after: anExecution({ status: { phase: 'completed' }, metadata: { namespace: 'windlass-other' } }),
    });
    await expect.poll(() => isRevoked(other), { timeout: 20_000 }).toBe(true);
    namespaces.set('windlass-acme', 'acme');
    await expect.poll(() => isRevoked(pod), { timeout: 20_000 }).toBe(true);
  });

  it('are revoked once the bus is back, where it was away at the end', { timeout: 60_000 }, async () => {
    const [pod] = await begin();
    await nats.server.kill();
    tell({ before: anExecution(), after: undefined });
    await systemClock.sleep(500);
    await nats.server.start();
    await expect.poll(() => isRevoked(pod).catch(() => false), { timeout: 40_000 }).toBe(true);
  });
});

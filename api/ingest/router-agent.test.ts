import { beforeEach, describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { AgentExecution, AgentResult } from '../../crds/schema/agent-execution.ts';
import { KubeError } from '../../lib/kube/index.ts';
import type { Stimulus } from '../../lib/stimulus/stimulus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createRouterAgent } from './router-agent.ts';

const stimulus: Stimulus = {
  id: 's1',
  source: { kind: 'HttpApi', name: 'tickets' },
  content: { text: 'Help!' },
  headers: { 'x-lang': 'en' },
  receivedAt: '2026-01-01T00:00:00.000Z',
};
const agent = { metadata: { name: 'triage', uid: 'agent-uid' } } as Agent;
const workflows = ['urgent', 'later'].map((name) => ({
  metadata: { name, uid: `uid-of-${name}` },
  spec: { description: `for what is ${name}` },
}));

interface Scene {
  /** The end of the execution; absent: it never ends. */
  readonly result?: Partial<AgentResult>;
  readonly phase?: 'cancelled' | 'failed';
  readonly known?: Agent;
  readonly stimulus?: Stimulus;
  /** The starter of an execution that has the name already. */
  readonly takenBy?: string;
}

/** Workflows beside the two. */
let many: number;
beforeEach(() => (many = 0));
const further = (n: number) =>
  ({ metadata: { name: `flow-${n}`, uid: `uid-${n}` }, spec: { description: 'd'.repeat(120) } }) as never;

async function ask({ result, phase, known = agent, stimulus: asked = stimulus, takenBy }: Scene) {
  const clock = createManualClock();
  const created: AgentExecution[] = [];
  const patches: object[] = [];
  const ended = (): AgentExecution | undefined => {
    const [execution] = created;
    if (execution === undefined) return undefined;
    const whole = { phase: 'completed', at: '2026-01-01T00:00:01.000Z', ...result } as AgentResult;
    return {
      ...execution,
      spec: { ...execution.spec, ...(result === undefined ? {} : { result: whole }) },
      status: { phase: phase ?? 'running' },
    } as AgentExecution;
  };
  const kube = {
    async create(_kind: unknown, execution: AgentExecution) {
      const notes = takenBy === undefined ? {} : { annotations: { [annotations.startedBy]: takenBy } };
      created.push({ ...execution, metadata: { ...execution.metadata, uid: 'e1', ...notes } });
      if (takenBy !== undefined)
        throw new KubeError(409, { reason: 'AlreadyExists' }, { verb: 'create', resource: 'agentexecutions' });
      return created[0];
    },
    get: async () => created[0],
    mergePatch: async (_kind: unknown, _ref: unknown, patch: object) => void patches.push(patch),
  };
  const cluster = {
    agents: { locate: async (_tenant: string, name: string) => (name === 'triage' ? known : undefined) },
    agentExecutions: { remember: () => undefined, whole: async () => ended() },
    workflows: { list: () => [...workflows, ...Array.from({ length: many }, (_, n) => further(n))] },
  };
  const deps = { clock, kube, cluster, current: ended };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic methods, used with one kind here
  const classifier = createRouterAgent(deps as unknown as Parameters<typeof createRouterAgent>[0]);
  const request = { stimulus: asked, tenant: 'acme', namespace: 'tenant-acme', routerAgent: 'triage' };
  const answered = Promise.allSettled([classifier.classify(request)]);
  await clock.advance(30_000);
  const [outcome] = await answered;
  const answer = outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as Error).message;
  return { answer, execution: created[0], patches };
}

const inputOf = (execution: AgentExecution | undefined) =>
  JSON.parse(execution?.spec.input ?? '{}') as {
    readonly stimulus: Readonly<Record<string, unknown>>;
    readonly workflows: unknown;
  };

describe('the question to a router agent', () => {
  it('of a stimulus that is routed again is the one that was asked before', async () => {
    const { answer } = await ask({ result: { output: '{"workflow_id":"x","confidence":1}' }, takenBy: 'stimulus:s1' });
    expect(answer).toMatchObject({ confidence: 1 });
  });

  it('is never the execution of a user who took its name', async () => {
    const { answer } = await ask({ result: { output: '{"workflow_id":"x","confidence":1}' }, takenBy: 'bob' });
    expect(answer).toContain('delete AgentExecution route-s1');
  });

  it('ROUTE-12 ROUTE-17 is an execution with the content, the headers and the workflows', async () => {
    const { execution } = await ask({ result: { output: '{}' } });
    expect(execution?.metadata).toMatchObject({ name: 'route-s1', namespace: 'tenant-acme' });
    expect(execution?.spec).toMatchObject({ agent: 'agent-uid', timeout: '24s' });
    expect(inputOf(execution)).toMatchObject({
      stimulus: { source: 'tickets', headers: { 'x-lang': 'en' }, content: { text: 'Help!' } },
      workflows: [
        { workflow_id: 'uid-of-later', name: 'later', description: 'for what is later' },
        { workflow_id: 'uid-of-urgent', name: 'urgent' },
      ],
    });
  });

  it.each<[string, Stimulus['content'], Record<string, string>, object]>([
    ['what fits', 'x'.repeat(200_000), { a: 'b' }, { content: 'x'.repeat(200_000), headers: { a: 'b' } }],
    ['a long content', 'x'.repeat(300_000), { a: 'b' }, { content_cut: true, headers: { a: 'b' } }],
    ['a content full of quotes', { rows: Array.from({ length: 80_000 }, () => '') }, {}, { content_cut: true }],
    [
      'long headers',
      'x',
      { a: 'b', long: 'b'.repeat(200_000) },
      { content: 'x', headers: { a: 'b' }, headers_cut: true },
    ],
    ['both', 'x'.repeat(300_000), { a: 'b', c: 'd'.repeat(60_000) }, { content_cut: true, headers: { a: 'b' } }],
  ])(
    'ROUTE-17 of %s is JSON that fits, with marks on what is cut and every workflow',
    async (_what, content, headers, want) => {
      many = 250;
      const { execution } = await ask({ stimulus: { ...stimulus, content, headers } });
      expect(execution?.spec.input?.length).toBeLessThanOrEqual(262_144);
      const { stimulus: given, workflows: offered, ...rest } = inputOf(execution) as Record<string, unknown>;
      expect(given).toMatchObject(want);
      expect(offered).toHaveLength(252);
      expect(rest).toHaveProperty('answer');
    },
  );

  it('ROUTE-17 marks nothing that is whole', async () => {
    const { execution } = await ask({});
    expect(Object.keys(inputOf(execution).stimulus)).toEqual(['source', 'received_at', 'headers', 'content']);
  });

  it('ROUTE-17 leaves descriptions out before workflows, and asks nothing where these alone do not fit', async () => {
    many = 1_500;
    const { execution } = await ask({});
    expect(inputOf(execution)).toMatchObject({ descriptions_cut: true, stimulus: { content: { text: 'Help!' } } });
    expect(inputOf(execution).workflows).toHaveLength(1_502);
    many = 10_000;
    const { answer, execution: none } = await ask({});
    expect([answer, none]).toEqual([expect.stringContaining('more workflows than a router agent'), undefined]);
  });
});

describe('the answer of a router agent', () => {
  it.each<[string, string]>([
    ['the object alone', '{"workflow_id": "urgent", "confidence": 0.9}'],
    ['a block of code', 'It is this:\n```json\n{"workflow_id": "urgent", "confidence": 0.9}\n```'],
  ])('ROUTE-14 as %s is the choice', async (_what, output) => {
    expect((await ask({ result: { output } })).answer).toEqual({ workflow: 'urgent', confidence: 0.9 });
  });

  it.each<[string, Scene, string]>([
    ['that is no JSON', { result: { output: 'urgent' } }, 'did not answer with {"workflow_id", "confidence"}'],
    ['without a workflow', { result: { output: '{"confidence": 1}' } }, 'did not answer with'],
    ['with an empty one', { result: { output: '{"workflow_id": "", "confidence": 1}' } }, 'did not answer with'],
    ['without confidence', { result: { output: '{"workflow_id": "x"}' } }, 'did not answer with'],
    ['with a text for it', { result: { output: '{"workflow_id": "x", "confidence": "1"}' } }, 'did not answer with'],
    ['of one that failed', { result: { phase: 'failed', reason: 'UnknownAlias' } }, 'failed: UnknownAlias'],
    ['of one that was cancelled', { phase: 'cancelled' }, 'failed: no result'],
  ])('ROUTE-16 %s is none', async (_what, scene, message) => {
    expect((await ask(scene)).answer).toContain(message);
  });

  it('ROUTE-16 that does not come within 25 s is none, and its execution is cancelled', async () => {
    const { answer, patches } = await ask({});
    expect(answer).toBe('the router agent did not answer within 25 s');
    expect(patches).toMatchObject([{ spec: { cancel: { by: 'router' } } }]);
  });
});

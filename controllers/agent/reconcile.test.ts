import { describe, expect, it } from 'vitest';
import { annotations } from '../../crds/labels.ts';
import type { Agent, AgentStatus } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { createCache } from '../../lib/informer/index.ts';
import { type ControllerRevision, KubeError } from '../../lib/kube/index.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import { revisionOf } from '../../lib/registration/index.ts';
import { anAgent } from '../../test/builders/agent-builder.ts';
import { aNodeConfig } from '../../test/builders/node-config-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { nested } from '../../test/support/nested.ts';
import { agentRevisionKey } from '../agent-execution/informer.ts';
import { createTurnGate } from '../runtime/turn-gate.ts';
import { agentKey } from '../workflow/informers.ts';
import { createAgentReconcile } from './reconcile.ts';

interface World {
  readonly agents?: readonly Agent[];
  readonly revisions?: readonly ControllerRevision[];
  readonly executions?: readonly AgentExecution[];
  readonly nodeConfig?: NodeConfig;
}

const stored = (agent: Agent): ControllerRevision => {
  const made = revisionOf(agent);
  return { ...made, metadata: { ...made.metadata, uid: `of-${made.metadata.name}`, resourceVersion: '5' } };
};

const known = aNodeConfig('default', 'fast');

/** Reconciles `tenant-a/reviewer`, and says what was stored, deleted and written into the status. */
async function reconciled({ agents = [], revisions = [], executions = [], nodeConfig = known }: World) {
  const caches = {
    agents: createCache<Agent, 'namespace'>({ indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] } }),
    revisions: createCache<ControllerRevision, 'agentUid' | 'agentKey'>({
      indexes: {
        agentUid: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.['windlass.dev/agent-uid']}`],
        agentKey: (one) => [agentKey(one) ?? ''],
      },
    }),
    executions: createCache<AgentExecution, 'revision' | 'agent'>({
      indexes: { revision: (one) => [agentRevisionKey(one) ?? ''], agent: ({ spec }) => [spec.agent] },
    }),
  };
  caches.agents.replaceAll(agents, '5');
  caches.revisions.replaceAll(revisions, '5');
  caches.executions.replaceAll(executions, '5');
  const done: { created: string[]; deleted: string[]; status?: AgentStatus } = { created: [], deleted: [] };
  const kube = {
    create: async (_kind: unknown, object: ControllerRevision) => {
      done.created.push(object.metadata.name ?? '');
      return { ...object, metadata: { ...object.metadata, uid: 'made', resourceVersion: '6' } };
    },
    get: async () => {
      if (agents[0] !== undefined) return agents[0];
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'agents' });
    },
    list: async () => ({ metadata: {}, items: executions.map(({ metadata }) => ({ metadata })) }),
    delete: async (_kind: unknown, { name }: { name: string }) => done.deleted.push(name) > 0,
    jsonPatchStatus: async (_kind: unknown, _ref: unknown, patch: readonly { path: string; value?: AgentStatus }[]) => {
      const status = patch.find(({ path }) => path === '/status')?.value;
      if (status !== undefined) done.status = status;
      return { ...agents[0], status };
    },
  };
  const reconcile = createAgentReconcile({
    kube: kube as never,
    clock: createManualClock(),
    ...caches,
    wholeAgent: async (agent) => agent,
    wholeRevision: async (revision) => revision,
    isEnding: () => false,
    nodeConfig,
    turns: createTurnGate(),
  });
  await reconcile('tenant-a/reviewer');
  return done;
}

const ready = (status: AgentStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready');
const agent = anAgent();
const own = revisionOf(agent).metadata.name;

describe('the controller of agents', () => {
  it('stores a legal definition as a revision, and lists its version', async () => {
    const { created, status } = await reconciled({ agents: [agent] });
    expect(created).toEqual([own]);
    expect(ready(status)).toMatchObject({ status: 'True', reason: 'Accepted' });
    expect(status).toMatchObject({
      revision: own,
      observedGeneration: 1,
      versions: [{ version: '1.0.0', revision: own }],
    });
  });

  it.each([
    [undefined, 'default'],
    [{}, 'default'],
    [{ model: 'smart' }, 'smart'],
  ])('AGENT-13 says which model it asks where spec.runtime is %j', async (runtime, model) => {
    const { spec, ...rest } = anAgent('reviewer');
    const { runtime: _given, ...bare } = spec;
    const { status } = await reconciled({
      agents: [{ ...rest, spec: runtime === undefined ? bare : { ...bare, runtime } }],
    });
    expect(status?.model).toBe(model);
  });

  it('stores nothing of a definition with mistakes, and names the field', async () => {
    const broken = anAgent('reviewer', { output_schema: { type: 'thing' } });
    const { created, status } = await reconciled({ agents: [broken] });
    expect(created).toEqual([]);
    expect(ready(status)).toMatchObject({ status: 'False', reason: 'InvalidDefinition' });
    expect(ready(status)?.message).toMatch(/^spec\.output_schema/);
  });

  it.each([
    ['spec.tools[0].config', { tools: [{ name: 'fs.read', config: { a: nested(5_500) } }] }],
    ['spec.output_schema', { output_schema: { type: 'object', default: nested(5_500) } } as const],
  ])('refuses a definition that is nested too deep to be hashed, and names the field: %s', async (field, spec) => {
    const { created, status } = await reconciled({ agents: [anAgent('reviewer', spec)], revisions: [stored(agent)] });
    expect(created).toEqual([]);
    expect(ready(status)).toMatchObject({ status: 'False', reason: 'InvalidDefinition' });
    expect(ready(status)?.message.startsWith(`${field}: `)).toBe(true);
    expect(status).not.toHaveProperty('revision');
    expect(status?.versions).toMatchObject([{ version: '1.0.0', revision: own }]);
  });

  it('AGENT-13 takes any model alias, and warns of each field whose alias no provider defines', async () => {
    const execution = {
      validation: { threshold: 1, model: 'fsat' },
      tool_validation: { enabled: true, model: 'fast' },
    };
    const { status } = await reconciled({ agents: [anAgent('reviewer', { runtime: { model: 'gpt-9' }, execution })] });
    expect(ready(status)).toMatchObject({ reason: 'Accepted' });
    const end =
      'defined: default, fast; until an operator adds it to spec.llm_providers, no execution of this agent can ask it';
    expect(status?.warnings).toEqual([
      `spec.runtime.model: the model alias gpt-9 is not defined; ${end}`,
      `spec.execution.validation.model: the model alias fsat is not defined; did you mean fast?; ${end}`,
    ]);
  });

  it('AGENT-13 warns of the default alias where no provider is configured', async () => {
    const { runtime: _, ...spec } = anAgent().spec;
    const { status } = await reconciled({ agents: [{ ...anAgent(), spec }], nodeConfig: aNodeConfig() });
    expect(status?.warnings).toEqual([expect.stringContaining('alias default is not defined; no alias is; until')]);
  });

  it('says in status.warnings what is legal and hardly ever meant', async () => {
    const { status } = await reconciled({ agents: [anAgent('reviewer', { task: { instruction: '{{intput}}' } })] });
    expect(status?.warnings).toHaveLength(1);
  });

  it('says in status.warnings that the agent which judges its answers is not there, as long as it is not', async () => {
    const judged = anAgent('reviewer', { execution: { validation: { agent: 'strickt', threshold: 0.5 } } });
    const { created, status } = await reconciled({ agents: [judged] });
    expect(created).toHaveLength(1);
    expect(status?.warnings).toEqual([
      expect.stringMatching(/^spec\.execution\.validation\.agent: no agent strickt, .* fail with AgentNotFound$/),
    ]);
    const near = anAgent('strict', {}, { uid: 'uid-of-near' });
    expect((await reconciled({ agents: [judged, near] })).status?.warnings?.[0]).toContain(
      '; did you mean strict?; until',
    );
    const judge = anAgent('strickt', {}, { uid: 'uid-of-judge' });
    expect((await reconciled({ agents: [judged, judge] })).status).not.toHaveProperty('warnings');
  });

  const priced = { input_per_million: 0, output_per_million: 0 };
  const nodeConfig = { ...aNodeConfig('big', 'small', 'judge'), prices: { 'small-1': priced } };
  const judged = { enabled: true, model: 'judge' };

  it.each<[string, Agent['spec']['runtime'], Agent['spec']['execution'], readonly string[]]>([
    ['has no price', { model: 'big' }, { max_cost_usd: 1 }, ['big']],
    ['has a price', { model: 'small' }, { max_cost_usd: 1 }, []],
    ['has no price, without max_cost_usd', { model: 'big' }, { max_tokens: 9 }, []],
    [
      'judges answers',
      { model: 'small' },
      { max_cost_usd: 1, validation: { model: 'judge', threshold: 0.5 } },
      ['judge'],
    ],
    ['judges calls', { model: 'small' }, { max_cost_usd: 1, tool_validation: judged }, ['judge']],
    ['judges no calls', { model: 'small' }, { max_cost_usd: 1, tool_validation: { ...judged, enabled: false } }, []],
    ['is its own judge', { model: 'big' }, { max_cost_usd: 1, tool_validation: { enabled: true } }, ['big']],
  ])(
    'says in status.warnings where max_cost_usd bounds nothing: the model %s',
    async (_what, runtime, execution, aliases) => {
      const { created, status } = await reconciled({
        agents: [anAgent('reviewer', { runtime, execution })],
        nodeConfig,
      });
      expect(created).toHaveLength(1);
      expect(status?.warnings ?? []).toEqual(
        aliases.map((alias) =>
          expect.stringMatching(
            new RegExp(
              String.raw`^spec\.execution\.max_cost_usd: .* model ${alias}-1 .*spec\.prices.* fail with PriceUnknown$`,
            ),
          ),
        ),
      );
    },
  );

  const changed = anAgent('reviewer', { description: 'other' });

  it('AGENT-10 refuses other content under a version that is stored', async () => {
    const { created, status } = await reconciled({ agents: [changed], revisions: [stored(agent)] });
    expect(created).toEqual([]);
    expect(ready(status)).toMatchObject({ status: 'False', reason: 'VersionConflict' });
    expect(ready(status)?.message).toContain('spec.description');
  });

  it('AGENT-10 takes it with force, and deletes what nothing runs any more', async () => {
    const forced = { ...changed, metadata: { ...changed.metadata, annotations: { [annotations.force]: 'true' } } };
    const { created, deleted } = await reconciled({ agents: [forced], revisions: [stored(agent)] });
    expect(created).toEqual([revisionOf(changed).metadata.name]);
    expect(deleted).toEqual([own]);
  });
});

describe('the revisions of an agent that is gone', () => {
  const run = (phase: 'running' | 'completed'): AgentExecution => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'AgentExecution',
    metadata: { name: 'x', namespace: 'tenant-a', uid: 'x', resourceVersion: '5' },
    spec: { agent: 'reviewer' },
    status: {
      phase,
      agent: { name: 'reviewer', namespace: 'tenant-a', uid: 'uid-of-reviewer', version: '1.0.0', revision: own ?? '' },
    },
  });

  it('stay as long as an execution runs them, and go then', async () => {
    const revisions = [stored(agent)];
    expect((await reconciled({ revisions, executions: [run('running')] })).deleted).toEqual([]);
    expect((await reconciled({ revisions, executions: [run('completed')] })).deleted).toEqual([own]);
  });

  it('stay for an execution that no controller has seen yet', async () => {
    const { status: _, ...unseen } = run('running');
    expect((await reconciled({ revisions: [stored(agent)], executions: [unseen] })).deleted).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { AgentSpec } from '../../../crds/schema/agent.ts';
import { apiVersion } from '../../../crds/labels.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { connect } from '../harness/cluster.ts';
import { startExecution, waitUntilFinished } from '../harness/executions.ts';
import { agentExecutions, agents, workflows } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';

type Judge = StateOf<'ParallelAgents'>['agents'][number];

const verdict = JSON.stringify([{ content: JSON.stringify({ score: 0.9, confidence: 1, reasoning: 'said' }) }]);
/** Its call waits for a person, who never comes. */
const asks = JSON.stringify([{ tool_calls: [{ name: 'svc.script.list', arguments: {} }] }]);

/** Judges that run, and those that do not end. Needs the scripted model of dev/demo/install. */
describe('the time of a judge, through the whole system', () => {
  let kube: KubeClient;
  let tenant: TestNamespace;

  beforeAll(async () => {
    ({ kube } = await connect());
    tenant = await makeTestNamespace(kube, 'judge-times');
    const spec: AgentSpec = {
      version: '1.0.0',
      runtime: { model: 'default' },
      task: { instruction: 'You say what your input says.' },
      tools: [{ name: 'svc.script.list' }],
      approval: { tools: ['svc.script.list'], timeout_seconds: 3_600 },
    };
    await kube.create(agents, { apiVersion, kind: 'Agent', metadata: { name: 'judge', namespace: tenant.name }, spec });
  });
  afterAll(async () => {
    await tenant?.remove();
    await kube.close();
  });

  /** Verdict of the panel, and its judges in order. */
  async function panelOf(name: string, judges: readonly Partial<Judge>[]) {
    const target = { namespace: tenant.name, name };
    const panel: StateOf<'ParallelAgents'> = {
      kind: 'ParallelAgents',
      agents: judges.map((fields) => ({ agent: 'judge', input: verdict, ...fields })),
      consensus: { strategy: 'weighted_average' },
      transitions: [{ condition: 'always', target: 'done' }],
    };
    const workflow = aWorkflow(name).state('s', panel).state('done', anEnd()).build();
    const object = { ...workflow, metadata: { ...workflow.metadata, ...target } };
    await kube.apply(workflows, object, { fieldManager: 'test', force: true });
    const { metadata } = await startExecution(kube, target, { workflow: name });
    const { status } = await waitUntilFinished(kube, target, { timeoutMs: 200_000 });
    const { items } = await kube.listAll(agentExecutions, { namespace: tenant.name });
    const own = items.filter(({ metadata: { ownerReferences = [] } }) => ownerReferences[0]?.uid === metadata.uid);
    const byPlace = own.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    // The execution ends when it has asked for the end of its judges.
    const judged = byPlace.map(({ metadata: { name: judge } }) =>
      waitForObject(kube, { resource: agentExecutions, namespace: tenant.name, name: judge }, isEnded),
    );
    return { entry: status?.blackboard?.['s']?.value, judges: await Promise.all(judged) };
  }

  it('WF-PAR-06 one that does not answer is cancelled after its timeout_seconds, or 60 s, and no sooner', async () => {
    const { entry, judges } = await panelOf('times', [{}, { input: asks, timeout_seconds: 5 }, { input: asks }]);
    expect(entry).toMatchObject({
      consensus: { score: 0.9 },
      individual_results: [
        { score: 0.9 },
        { score: null, error: expect.stringMatching(/longer than its timeout_seconds, 5$/) as string },
        { score: null, error: expect.stringMatching(/longer than its timeout_seconds, 60$/) as string },
      ],
    });
    expect(judges.map(({ spec }) => spec.cancel === undefined)).toEqual([true, false, false]);
    const [, five = 0, usual = 0] = judges.map(millisecondsOf);
    expect(five).toBeGreaterThanOrEqual(5_000);
    // The others run on when one is cancelled, and each has a time of its own.
    expect(usual).toBeGreaterThanOrEqual(60_000);
    expect(five).toBeLessThan(usual);
  }, 240_000);

  it('WF-PAR-07 a poll_interval_ms of ten minutes, of 10 ms or none delays nothing: the end is watched', async () => {
    const { entry } = await panelOf('polls', [
      { poll_interval_ms: 600_000, timeout_seconds: 900 },
      { poll_interval_ms: 10, timeout_seconds: 900 },
      { timeout_seconds: 900 },
    ]);
    const said = { score: 0.9 };
    expect(entry).toMatchObject({ consensus: said, individual_results: [said, said, said] });
  }, 240_000);
});

const isEnded = ({ status }: AgentExecution): boolean => status?.finished_at !== undefined;

const millisecondsOf = ({ status }: AgentExecution): number =>
  Date.parse(status?.finished_at ?? '') - Date.parse(status?.started_at ?? '');

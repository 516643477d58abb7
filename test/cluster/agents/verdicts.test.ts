import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { Consensus } from '../../../crds/schema/consensus.ts';
import type { State } from '../../../crds/schema/state.ts';
import { defined } from '../../../lib/defined.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { connect } from '../harness/cluster.ts';
import { startExecution, waitUntilFinished } from '../harness/executions.ts';
import { agentExecutions, agents, workflows } from '../harness/kinds.ts';
import { makeTestNamespace, type TestNamespace } from '../harness/test-namespace.ts';

type Rule = State['transitions'][number];

/** Text of a judge; `undefined`: no verdict. */
type Said = readonly [score: number, confidence?: number, weight?: number] | undefined;

interface Row {
  readonly id: string;
  /** Absent: one agent says it, and no panel. */
  readonly consensus?: Consensus;
  readonly says: readonly Said[];
  readonly rule: Omit<Rule, 'target'>;
  readonly matches: boolean;
}

const average: Consensus = { strategy: 'weighted_average' };
/** Its score is the lowest score, and its confidence the lowest confidence. */
const lowest: Consensus = { strategy: 'unanimous', threshold: 0.7 };
const rows: Row[] = [];

const above = (what: 'score' | 'confidence', bound: number): Row['rule'] => ({
  condition: 'custom',
  expression: `{{s.consensus.${what}}} > ${bound}`,
});

/** Each case is what the judges say, and whether the rule matches. */
function row(
  id: string,
  consensus: Consensus | undefined,
  rule: Row['rule'],
  cases: readonly [...Said[], boolean][],
): void {
  for (const each of cases)
    rows.push({
      id,
      ...defined({ consensus }),
      rule,
      says: each.slice(0, -1) as Said[],
      matches: each.at(-1) === true,
    });
}

row('WF-COND-15', undefined, { condition: 'score_above', threshold: 0.7 }, [
  [[0.69], false],
  [[0.7], false],
  [[0.71], true],
]);
row('WF-COND-16', undefined, { condition: 'score_below', threshold: 0.7 }, [
  [[0.69], true],
  [[0.7], false],
  [[0.71], false],
]);
row('WF-COND-17', undefined, { condition: 'score_between', min: 0.3, max: 0.7 }, [
  [[0.29], false],
  [[0.3], true],
  [[0.7], true],
  [[0.71], false],
]);
row('WF-COND-18', undefined, { condition: 'confidence_above', threshold: 0.6 }, [
  [[1, 0.59], false],
  [[1, 0.6], false],
  [[1, 0.61], true],
]);
row('WF-COND-19 WF-PAR-10', { ...lowest, min_agreement_confidence: 0.6 }, { condition: 'consensus' }, [
  [[0.7, 0.6], true],
  [[0.69, 0.6], false],
  [[0.7, 0.59], false],
]);
row('WF-COND-19 WF-PAR-10', { ...lowest, agreement: 0.6 }, { condition: 'consensus' }, [
  [[0.7, 0.6], true],
  [[0.7, 0.59], false],
]);
row('WF-COND-20', { ...average, threshold: 0.7 }, { condition: 'all_approved' }, [
  [[0.7], [0.71], true],
  [[0.7], [0.69], false],
]);
row('WF-COND-21', { ...average, threshold: 0.7 }, { condition: 'any_rejected' }, [
  [[0.7], [0.71], false],
  [[0.7], [0.69], true],
]);
row('WF-PAR-09', average, { condition: 'consensus' }, [
  [[0.69], false],
  [[0.7], true],
]);
row('WF-PAR-09', { ...average, threshold: 0 }, { condition: 'consensus' }, [[[0], true]]);
row('WF-PAR-09', { ...average, threshold: 1 }, { condition: 'consensus' }, [
  [[0.99], false],
  [[1], true],
]);
row('WF-PAR-05', average, { condition: 'consensus' }, [
  [[0.4], [1, 1, 1], true],
  [[0.4], [1, 1, 0.99], false],
]);
row('WF-PAR-08', { strategy: 'majority', threshold: 0.7 }, above('score', 0.5), [
  [[0.7], [0.69], false],
  [[0.7], [0.69], [0.7], true],
]);
row('WF-PAR-11', { strategy: 'best_of_n', n: 1 }, above('score', 0.8), [[[0.9], [0.7], true]]);
row('WF-PAR-11', { strategy: 'best_of_n', n: 2 }, above('score', 0.8), [[[0.9], [0.7], false]]);
row('WF-PAR-12', { ...average, min_judges_required: 1 }, { condition: 'consensus' }, [[[1], undefined, [1], true]]);
row('WF-PAR-12', { ...average, min_judges_required: 2 }, { condition: 'consensus' }, [[[1], undefined, [1], true]]);
row('WF-PAR-12', { ...average, min_judges_required: 3 }, { condition: 'consensus' }, [[[1], undefined, [1], false]]);
row('WF-PAR-13 WF-PAR-14', average, above('confidence', 0.7), [
  [[1, 0], [1, 0], false],
  [[1, 0.01], [1, 0.01], true],
]);
const halves = { agreement_factor: 0.5, self_confidence_factor: 0.5 };
row('WF-PAR-13 WF-PAR-14', { ...average, confidence_weighting: halves }, above('confidence', 0.5), [
  [[1, 0], [1, 0], false],
  [[1, 0.01], [1, 0.01], true],
]);

// The same mean: judges who agree are worth more confidence.
row('WF-PAR-16', average, above('confidence', 0.99), [
  [[0.5], [0.5], true],
  [[0.4], [0.6], false],
]);
row('WF-PAR-16', average, above('score', 0.59), [
  [[0.4], [0.8], true],
  [[0.4], [0.79], true],
  [[0.4], [0.78], false],
]);
row('WF-PAR-17', { strategy: 'majority', threshold: 0.7 }, above('confidence', 0.33), [
  [[0.7], [0.7], [0.69], true],
  [[0.7], [0.69], false],
]);
row('WF-PAR-18', lowest, above('confidence', 0.59), [
  [[1, 0.6], [1, 0.9], true],
  [[1, 0.59], [1, 0.9], false],
]);
row('WF-PAR-18', lowest, { condition: 'consensus' }, [
  [[1], [0.7], true],
  [[1], [0.69], false],
]);
// The higher score has the lower rank.
row('WF-PAR-19', { strategy: 'best_of_n', n: 1 }, above('score', 0.7), [[[0.9, 0.5], [0.6, 1], false]]);
row('WF-PAR-19', { strategy: 'best_of_n', n: 2 }, above('score', 0.7), [
  [[0.9, 0.5], [0.6, 1], true],
  [[0.9, 0.5], [0.6, 1, 3], false],
]);

/** One below, at and above each threshold, said by agents that run. Needs the scripted model of dev/demo/install. */
describe('what judges say, at the thresholds of a state', () => {
  let kube: KubeClient;
  let tenant: TestNamespace;

  beforeAll(async () => {
    ({ kube } = await connect());
    tenant = await makeTestNamespace(kube, 'verdicts');
    const judge: Agent = {
      apiVersion: 'windlass.dev/v1',
      kind: 'Agent',
      metadata: { name: 'judge', namespace: tenant.name },
      spec: {
        version: '1.0.0',
        runtime: { model: 'default' },
        task: { instruction: 'You say what your input says.' },
      },
    };
    await kube.create(agents, judge);
  });
  afterAll(async () => {
    await tenant?.remove();
    await kube.close();
  });

  async function finished(name: string, states: Readonly<Record<string, State>>, more: object = {}) {
    const target = { namespace: tenant.name, name };
    const builder = aWorkflow(name);
    for (const [state, spec] of Object.entries(states)) builder.state(state, spec);
    const workflow = builder.state('met', anEnd()).build();
    const object = { ...workflow, metadata: { ...workflow.metadata, ...target } };
    await kube.apply(workflows, object, { fieldManager: 'test', force: true });
    await startExecution(kube, target, { workflow: name, ...more });
    return waitUntilFinished(kube, target, { timeoutMs: 150_000 });
  }

  const numbered = rows.map((each, index) => ({ ...each, index, name: `verdict-${index}` }));

  it.concurrent.each(numbered)('$id $rule.condition: $says → $matches', async (each) => {
    const { name, says, consensus, rule, matches } = each;
    const { name: namespace } = tenant;
    const target = { namespace, name };
    const transitions = [{ ...rule, target: 'met' } as Rule, { condition: 'always', target: 'missed' } as const];
    const judges = says.map((said, judge) => ({
      agent: 'judge',
      input: `{{input.judge_${judge}}}`,
      ...defined({ weight: said?.[2] }),
    }));
    const [one = { agent: 'judge', input: '' }] = judges;
    const state: State =
      consensus === undefined
        ? { kind: 'Agent', agent: one.agent, input: one.input, transitions }
        : { kind: 'ParallelAgents', agents: judges, consensus, transitions };
    const workflow = aWorkflow(name).state('s', state).state('met', anEnd()).state('missed', anEnd()).build();
    await kube.apply(
      workflows,
      { ...workflow, metadata: { ...workflow.metadata, ...target } },
      { fieldManager: 'test', force: true },
    );
    const input = Object.fromEntries(says.map((said, judge) => [`judge_${judge}`, scriptOf(said)]));
    await startExecution(kube, target, { workflow: name, input });
    const { status } = await waitUntilFinished(kube, target, { timeoutMs: 150_000 });
    expect(status?.history?.map(({ state: visited }) => visited)).toEqual(['s', matches ? 'met' : 'missed']);
  });

  it('WF-PAR-20 WF-PAR-21 WF-PAR-22 WF-PAR-23 writes what was said and weighed, in the order of the manifest', async () => {
    const says: Said[] = [[0.9, 0.8, 2], [0.6]];
    const judges = says.map((said) => ({ agent: 'judge', input: scriptOf(said), ...defined({ weight: said?.[2] }) }));
    const transitions = [{ condition: 'always', target: 'met' } as const];
    const panel: State = { kind: 'ParallelAgents', agents: judges, consensus: average, transitions };
    const { status } = await finished('entry', { s: panel });
    const { metadata } = await kube.get(agents, { namespace: tenant.name, name: 'judge' });
    const agent_id = metadata.uid;
    expect(status?.blackboard?.['s']?.value).toMatchObject({
      consensus: {
        score: 0.8,
        confidence: expect.any(Number) as number,
        strategy: 'weighted_average',
        metadata: { judges: 2, completed: 2 },
      },
      individual_results: [
        { agent_id, score: 0.9, confidence: 0.8, reasoning: 'said' },
        { agent_id, score: 0.6, reasoning: 'said' },
      ],
      agents: [
        { agent_id, output: verdictOf(says[0]), weight: 2 },
        { agent_id, output: verdictOf(says[1]), weight: 1 },
      ],
    });
  });

  it('WF-AGENT-02 WF-AGENT-03 WF-AGENT-05 WF-AGENT-06 WF-AGENT-08 reads intents, inputs and earlier states', async () => {
    const says = (text: string): string => `[{"content":"${text}"}]`;
    const on = (target: string) => [{ condition: 'always', target } as const];
    const { status, metadata } = await finished(
      'reads',
      {
        s: { kind: 'Agent', agent: 'judge', input: says('{{intent}}, {{input.word}}'), transitions: on('own') },
        own: {
          kind: 'Agent',
          agent: 'judge',
          intent: 'its own {{input.word}}',
          input: says('{{s.output}} and {{intent}}'),
          transitions: on('met'),
        },
      },
      { input: { word: 'given' }, intent: 'the caller says' },
    );
    const entries = status?.blackboard;
    const first = 'the caller says, given';
    // The intent of a state is that of its agent (spec 1 §2.6); templates read the caller's.
    expect(entries?.['s']?.value).toMatchObject({ status: 'success', output: first, iterations: 1 });
    expect(entries?.['own']?.value).toMatchObject({ status: 'success', output: `${first} and the caller says` });
    const { items } = await kube.listAll(agentExecutions, { namespace: tenant.name });
    const children = items.filter(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.uid === metadata.uid);
    expect(new Set(children.map(({ spec }) => spec.intent))).toEqual(new Set(['the caller says', 'its own given']));
  });

  it('WF-PAR-04 each judge ran on the input that its template gave', async () => {
    const { items } = await kube.listAll(agentExecutions, { namespace: tenant.name });
    const judges = rows.reduce((sum, { says }) => sum + says.length, 0);
    expect(items.length).toBeGreaterThanOrEqual(judges);
    for (const { spec } of items) expect(spec.input).toMatch(/^\[\{"content":/);
  });
});

/** The one reply of the model to a judge. */
const scriptOf = (said: Said): string => JSON.stringify([{ content: verdictOf(said) }]);

function verdictOf(said: Said): string {
  const [score, confidence] = said ?? [];
  return said === undefined ? 'I cannot say.' : JSON.stringify({ score, confidence, reasoning: 'said' });
}

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

  it('WF-PAR-04 each judge ran on the input that its template gave', async () => {
    const { items } = await kube.listAll(agentExecutions, { namespace: tenant.name });
    const judges = rows.reduce((sum, { says }) => sum + says.length, 0);
    expect(items.length).toBeGreaterThanOrEqual(judges);
    for (const { spec } of items) expect(spec.input).toMatch(/^\[\{"content":/);
  });
});

/** The one reply of the model to a judge. */
function scriptOf(said: Said): string {
  const [score, confidence] = said ?? [];
  const content = said === undefined ? 'I cannot say.' : JSON.stringify({ score, confidence, reasoning: 'said' });
  return JSON.stringify([{ content }]);
}

import { describe, expect, it } from 'vitest';
import type { Consensus, Judge } from '../../../crds/schema/consensus.ts';
import type { State, StateOf } from '../../../crds/schema/state.ts';
import type { AgentFact } from '../engine/facts.ts';
import { anEnd, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World, type WorldOptions } from '../../../test/builders/world.ts';

const average: Consensus = { strategy: 'weighted_average' };

interface PanelFields {
  readonly agents?: Judge[];
  readonly consensus?: Partial<Consensus>;
  readonly timeout?: string;
  readonly rules?: State['transitions'];
}

function panel({ agents, consensus, timeout, rules = [] }: PanelFields = {}, options: WorldOptions = {}): World {
  const state: StateOf<'ParallelAgents'> = {
    kind: 'ParallelAgents',
    agents: agents ?? [{ agent: 'one' }, { agent: 'two' }, { agent: 'three' }],
    consensus: { ...average, ...consensus },
    transitions: rules,
    ...(timeout === undefined ? {} : { timeout }),
  };
  const workflow = aWorkflow('w').state('p', state).state('good', anEnd()).state('bad', anEnd());
  return new World(workflow.build(), options);
}

const verdict = (score: number, confidence = 1): Partial<AgentFact> => ({
  output: JSON.stringify({ score, confidence, reasoning: `says ${score}` }),
});

/** Lets the judges say these scores, in manifest order. */
function says(world: World, ...scores: readonly number[]): World {
  for (const [judge, score] of scores.entries()) world.endAgent('p', judge, verdict(score));
  return world.settle();
}

describe('the judges of a ParallelAgents state', () => {
  it('WF-PAR-01 WF-PAR-03 WF-PAR-24 are started in one decision, each as a child of this visit', () => {
    const w = panel();
    const decision = w.step();
    expect(decision.actions.map(({ kind }) => kind)).toEqual(['create_agent', 'create_agent', 'create_agent']);
    expect([...w.agents.values()].map(({ spec }) => [spec.agent, spec.parent?.judge])).toEqual([
      ['one', 0],
      ['two', 1],
      ['three', 2],
    ]);
    expect(new Set(w.agents.keys()).size).toBe(3);
  });

  it('WF-PAR-04 have their inputs rendered, and the intent of the execution', () => {
    const agents = [{ agent: 'one', input: 'Judge {{input.text}}' }, { agent: 'two' }];
    const w = panel({ agents }, { spec: { input: { text: 'this' }, intent: 'be fair' } }).settle();
    expect(w.agentOf('p', 0).spec).toMatchObject({ input: 'Judge this', intent: 'be fair' });
    expect(w.agentOf('p', 1).spec).not.toHaveProperty('input');
  });

  it('WF-PAR-03 may be one agent several times', () => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'one' }] }).settle();
    expect(w.agents.size).toBe(2);
    expect(says(w, 0.6, 0.8).board()['p']).toMatchObject({ consensus: { score: 0.7 } });
  });

  it('WF-PAR-24 are all awaited, and their answers read together at the end', () => {
    const w = panel().settle();
    w.endAgent('p', 0, verdict(0.5)).endAgent('p', 1, verdict(0.5)).settle();
    expect(w.visits()).toEqual([]);
    expect(w.lastFacts?.agents?.every(({ output }) => output === undefined)).toBe(true);
    w.endAgent('p', 2, verdict(0.5)).settle();
    expect(w.visits()).toEqual(['p']);
  });

  it('are made once, however often the engine decides', () => {
    const w = panel();
    w.step();
    expect(w.decision().actions).toEqual([]);
  });
});

describe('what a ParallelAgents state leaves behind', () => {
  it('WF-PAR-20 WF-PAR-21 WF-PAR-22 consensus, individual_results and agents in manifest order', () => {
    const agents = [{ agent: 'one', weight: 3 }, { agent: 'two' }];
    const w = panel({ agents }).settle();
    w.changeAgent('p', 0, { agentUid: 'uid-of-one' });
    says(w, 0.9, 0.5);
    expect(w.board()['p']).toEqual({
      status: 'success',
      consensus: {
        score: 0.8,
        confidence: expect.closeTo(0.757_512, 5),
        strategy: 'weighted_average',
        metadata: expect.objectContaining({ judges: 2, completed: 2, approved: 1, threshold: 0.7 }),
      },
      individual_results: [
        { agent_id: 'uid-of-one', score: 0.9, confidence: 1, reasoning: 'says 0.9' },
        { agent_id: 'two', score: 0.5, confidence: 1, reasoning: 'says 0.5' },
      ],
      agents: [
        { agent_id: 'uid-of-one', output: '{"score":0.9,"confidence":1,"reasoning":"says 0.9"}', weight: 3 },
        { agent_id: 'two', output: '{"score":0.5,"confidence":1,"reasoning":"says 0.5"}', weight: 1 },
      ],
    });
  });

  it('WF-TPL-13 WF-TPL-14 WF-TPL-15 WF-TPL-16 templates read the consensus and the fields of each judge', () => {
    const feedback =
      '{{p.consensus.score}} {{p.consensus.confidence}} {{p.agents.1.output}} {{p.agents.0.output.reasoning}}';
    const rules = [{ target: 'good', feedback }];
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }], rules }).settle();
    w.endAgent('p', 0, { output: '```json\n{"score": 0.5, "reasoning": "fenced"}\n```' });
    w.endAgent('p', 1, { output: '{"score": 0.5}' }).settle();
    expect(w.status.feedback?.value).toBe('0.5 1 {"score": 0.5} fenced');
  });

  it.each([
    ['weighted_average', {}, 0.6],
    ['majority', {}, 0.333_333_333_333],
    ['unanimous', {}, 0.4],
    ['best_of_n', { n: 2 }, 0.7],
  ] as const)('WF-PAR-02 WF-PAR-08 by the strategy %s', (strategy, fields, score) => {
    const w = says(panel({ consensus: { strategy, ...fields } }).settle(), 0.8, 0.6, 0.4);
    expect(w.board()['p']).toMatchObject({ consensus: { strategy, score } });
  });

  it('WF-PAR-15 with the factors of the state', () => {
    const weighting = { agreement_factor: 0, self_confidence_factor: 1 };
    const w = says(panel({ consensus: { confidence_weighting: weighting } }).settle(), 0, 1, 0.5);
    expect(w.board()['p']).toMatchObject({ consensus: { confidence: 1 } });
  });
});

describe('judges that do not complete', () => {
  it.each([
    { completed: 1, least: 2, status: 'failed' },
    { completed: 2, least: 2, status: 'success' },
    { completed: 3, least: 2, status: 'success' },
    { completed: 0, least: undefined, status: 'failed' },
    { completed: 1, least: undefined, status: 'success' },
  ])(
    'WF-PAR-12 AMB-083 $completed completed of min_judges_required $least: $status',
    ({ completed, least, status }) => {
      const w = panel({ consensus: least === undefined ? {} : { min_judges_required: least } }).settle();
      for (const judge of [0, 1, 2]) w.endAgent('p', judge, judge < completed ? verdict(0.9) : { phase: 'failed' });
      w.settle();
      expect(w.status.history?.[0]).toMatchObject({ status });
      expect(w.status.history?.[0]?.reason).toBe(status === 'failed' ? 'TooFewJudges' : undefined);
    },
  );

  it.each([
    ['failed', { phase: 'failed', why: { reason: 'MaxIterations', message: 'ten' } }, 'MaxIterations: ten'],
    ['was cancelled', { phase: 'cancelled' }, 'cancelled'],
    ['said no JSON', { output: 'fine!' }, 'no JSON object'],
    ['gave a score of 1.1', { output: '{"score": 1.1}' }, 'its score 1.1'],
  ] as const)('AMB-083 one that %s is left out, with the reason', (_name, fields, why) => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }] }).settle();
    w.endAgent('p', 0, verdict(0.6)).endAgent('p', 1, fields).settle();
    expect(w.board()['p']).toMatchObject({
      status: 'success',
      consensus: { score: 0.6, metadata: { completed: 1, judges: 2 } },
      individual_results: [
        { score: 0.6 },
        { agent_id: 'two', score: null, confidence: null, reasoning: null, error: expect.stringContaining(why) },
      ],
      agents: [{ agent_id: 'one' }, { agent_id: 'two', weight: 1 }],
    });
  });

  it('AMB-083 one that was deleted is left out and not made again', () => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }] }).settle();
    w.agents.delete(w.agentOf('p', 1).name);
    w.endAgent('p', 0, verdict(0.6)).settle();
    expect(w.board()['p']).toMatchObject({
      individual_results: [{ score: 0.6 }, { error: expect.stringContaining('deleted') }],
    });
    expect(w.agents.size).toBe(1);
  });

  it('one whose template cannot be rendered is left out alone', () => {
    const agents = [{ agent: 'one' }, { agent: 'two', input: '{{#each input.rows}}{{json @root}}{{/each}}' }];
    const rows = Array.from({ length: 10 }, () => 'x'.repeat(200_000));
    const w = panel({ agents }, { spec: { input: { rows } } }).settle();
    expect(w.agents.size).toBe(1);
    w.endAgent('p', 0, verdict(0.6)).settle();
    expect(w.board()['p']).toMatchObject({ consensus: { metadata: { completed: 1 } } });
  });

  it('WF-PAR-05 where only judges of weight 0 completed the state fails', () => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two', weight: 0 }] }).settle();
    w.endAgent('p', 0, { phase: 'failed' }).endAgent('p', 1, verdict(0.9)).settle();
    expect(w.status.history?.[0]).toMatchObject({
      reason: 'TooFewJudges',
      message: expect.stringContaining('weight 0'),
    });
    expect(w.board()['p']).toMatchObject({ status: 'failed', consensus: { score: null, confidence: null } });
  });
});

describe('the time of a judge', () => {
  it.each([
    { seconds: undefined, ms: 60_000 },
    { seconds: 5, ms: 5_000 },
  ])('WF-PAR-06 timeout_seconds $seconds cancels a judge $ms ms after its start', ({ seconds, ms }) => {
    const agents = [{ agent: 'one', ...(seconds === undefined ? {} : { timeout_seconds: seconds }) }, { agent: 'two' }];
    const w = panel({ agents }).settle();
    w.changeAgent('p', 1, { startedAt: w.now + 600_000 });
    w.pass(ms - 1).settle();
    expect(w.agentOf('p', 0).cancelled).toBe(false);
    expect(w.decisions.at(-1)?.wakeAt).toBe(w.now + 1);
    w.pass(1).settle();
    expect(w.agentOf('p', 0).cancelled).toBe(true);
    expect(w.agentOf('p', 1).cancelled).toBe(false);
    w.endAgent('p', 1, verdict(0.9)).settle();
    expect(w.board()['p']).toMatchObject({
      individual_results: [{ error: expect.stringContaining('timeout_seconds') }, { score: 0.9 }],
    });
  });

  it('WF-PAR-06 counts from its own start, not from that of the state', () => {
    const w = panel({ agents: [{ agent: 'one' }], timeout: '1h' });
    w.agentsStart = false;
    w.settle().pass(100_000).settle();
    w.changeAgent('p', 0, { phase: 'running', startedAt: w.now }).pass(59_999).settle();
    expect(w.agentOf('p', 0).cancelled).toBe(false);
    w.pass(1).settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'TooFewJudges' });
  });

  it.each([
    { late: 0, score: 0.9 },
    { late: 1, score: null },
  ])('AMB-083 a verdict $late ms after the time of the judge: $score', ({ late, score }) => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }] }).settle();
    const startedAt = w.now;
    w.endAgent('p', 0, { ...verdict(0.9), startedAt, endedAt: startedAt + 60_000 + late });
    w.endAgent('p', 1, verdict(0.5)).settle();
    expect(w.board()['p']).toMatchObject({ individual_results: [{ score }, { score: 0.5 }] });
  });

  it.each([10, 500, 600_000])(
    'WF-PAR-07 a poll_interval_ms of %i changes nothing: the end of a judge is watched',
    (interval) => {
      const w = panel({ agents: [{ agent: 'one', poll_interval_ms: interval }] }).settle();
      expect(says(w, 0.9).board()['p']).toMatchObject({ consensus: { score: 0.9 } });
    },
  );

  it('AMB-070 the timeout of the state cancels all that still run and fails it, and keeps what was said', () => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }], timeout: '10s' }).settle();
    w.endAgent('p', 0, verdict(0.9)).pass(10_000).settle();
    expect(w.status.history?.[0]).toMatchObject({ status: 'failed', reason: 'StateTimeout' });
    expect(w.agentOf('p', 1).cancelled).toBe(true);
    expect(w.board()['p']).toMatchObject({ consensus: { score: null }, individual_results: [{ score: 0.9 }, {}] });
  });

  it('AMB-190 a judge that never starts is given up after an hour', () => {
    const w = panel({ agents: [{ agent: 'one' }], timeout: '2h' });
    w.agentsStart = false;
    w.settle().pass(3_599_999).settle();
    expect(w.visits()).toEqual([]);
    w.pass(1).settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'TooFewJudges', message: expect.stringContaining('Never') });
    expect(w.agentOf('p', 0).cancelled).toBe(true);
  });

  it('AMB-014 a cancel of the execution cancels every judge that runs', () => {
    const w = panel().settle().endAgent('p', 0, verdict(1)).cancel().settle();
    expect([0, 1, 2].map((judge) => w.agentOf('p', judge).cancelled)).toEqual([false, true, true]);
  });
});

describe('rules on a ParallelAgents state', () => {
  const ruled = (rule: object, consensus: Partial<Consensus>, scores: readonly number[]) => {
    const rules = [{ ...rule, target: 'good' }, { target: 'bad' }] as State['transitions'];
    const agents = scores.map((_, index) => ({ agent: `judge-${index}` }));
    return (
      says(panel({ agents, rules, consensus }).settle(), ...scores)
        .visits()
        .at(-1) === 'good'
    );
  };

  it.each([
    [0.59, false],
    [0.6, true],
    [0.61, true],
  ])('WF-COND-19 consensus with a threshold of 0.6 and a score of %d: %s', (score, matches) => {
    expect(ruled({ condition: 'consensus', threshold: 0.6, agreement: 0.5 }, {}, [score])).toBe(matches);
  });

  it('WF-COND-19 consensus asks for the agreement as well', () => {
    expect(ruled({ condition: 'consensus', threshold: 0.5, agreement: 0.9 }, {}, [1, 1])).toBe(true);
    expect(ruled({ condition: 'consensus', threshold: 0.5, agreement: 0.9 }, {}, [0.4, 1])).toBe(false);
  });

  it('WF-PAR-09 WF-PAR-10 AMB-064 consensus without numbers takes those of the state', () => {
    expect(ruled({ condition: 'consensus' }, { threshold: 0.5 }, [0.5])).toBe(true);
    expect(ruled({ condition: 'consensus' }, {}, [0.69])).toBe(false);
    expect(ruled({ condition: 'consensus' }, { threshold: 0, agreement: 0.9 }, [0, 1])).toBe(false);
    expect(ruled({ condition: 'consensus' }, { threshold: 0, min_agreement_confidence: 0.2 }, [0, 1])).toBe(true);
  });

  it.each([
    [[0.7, 0.7], true, false],
    [[0.69, 0.9], false, true],
  ])('WF-COND-20 WF-COND-21 the scores %j: all_approved %s, any_rejected %s', (scores, all, any) => {
    expect(ruled({ condition: 'all_approved' }, {}, scores)).toBe(all);
    expect(ruled({ condition: 'any_rejected' }, {}, scores)).toBe(any);
  });

  it('AMB-183 a judge that did not complete has neither approved nor rejected', () => {
    const reach = (condition: 'all_approved' | 'any_rejected') => {
      const rules: State['transitions'] = [{ condition, target: 'good' }, { target: 'bad' }];
      const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }], rules }).settle();
      return w.endAgent('p', 0, verdict(0.9)).endAgent('p', 1, { phase: 'failed' }).settle().visits().at(-1);
    };
    expect([reach('all_approved'), reach('any_rejected')]).toEqual(['bad', 'bad']);
  });

  it.each(['consensus', 'all_approved', 'any_rejected'] as const)(
    '%s does not match a state that failed',
    (condition) => {
      const rules: State['transitions'] = [{ condition, target: 'good' }, { target: 'bad' }];
      const consensus = { min_judges_required: 2, threshold: 0.95 };
      const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }], rules, consensus }).settle();
      w.endAgent('p', 0, verdict(0.9)).endAgent('p', 1, { phase: 'failed' }).settle();
      expect(w.visits().at(-1)).toBe('bad');
    },
  );
});

describe('a judge that the API server does not take', () => {
  it('as it is fails the state, and the others are cancelled', () => {
    const w = panel({ agents: [{ agent: 'one' }, { agent: 'two' }] });
    w.step((action) => action.kind === 'create_agent' && action.spec.parent?.judge === 0);
    w.blocked = { reason: 'Refused', message: 'not valid', child: w.status.current?.judges?.[1]?.name };
    w.settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'Refused', message: expect.stringContaining('not valid') });
    expect(w.agentOf('p', 0).cancelled).toBe(true);
  });

  it('for want of quota is awaited', () => {
    const w = panel();
    w.blocked = { reason: 'QuotaExceeded', message: 'no room' };
    w.settle();
    expect(w.status).toMatchObject({ phase: 'running', reason: 'QuotaExceeded' });
    w.blocked = undefined;
    expect(w.settle().agents.size).toBe(3);
  });
});

import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import type { State, StateOf } from '../../../crds/schema/state.ts';
import { anEnd, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World, type WorldOptions } from '../../../test/builders/world.ts';

const rules: State['transitions'] = [
  { condition: 'on_success', target: 'good' },
  { condition: 'on_failure', target: 'bad' },
];

const anAgent = (fields: Partial<StateOf<'Agent'>> = {}): StateOf<'Agent'> => ({
  kind: 'Agent',
  agent: 'writer',
  transitions: rules,
  ...fields,
});

const flow = (fields: Partial<StateOf<'Agent'>> = {}) =>
  aWorkflow('w').state('s', anAgent(fields)).state('good', anEnd()).state('bad', anEnd());

const world = (fields: Partial<StateOf<'Agent'>> = {}, options: WorldOptions = {}) =>
  new World(flow(fields).build(), options);

describe('what an Agent state starts', () => {
  it('WF-AGENT-01 is one AgentExecution of the agent that it names, a child of this visit', () => {
    const w = world().settle();
    expect([...w.agents.values()].map(({ spec }) => spec)).toEqual([
      { agent: 'writer', parent: { name: 'demo-1', uid: w.execution.metadata.uid, state: 's', visit: 1 } },
    ]);
    expect(w.status.current?.child?.uid).toBe(w.agentOf('s').uid);
  });

  it.each([
    ['of the state, rendered', '{{input.tone}}, please', 'kind, please'],
    ['of the execution where the state has none', undefined, 'short'],
  ])('WF-AGENT-02 has the intent %s', (_name, intent, expected) => {
    const fields = intent === undefined ? {} : { intent };
    const w = world(fields, { spec: { intent: 'short', input: { tone: 'kind' } } }).settle();
    expect(w.agentOf('s').spec.intent).toBe(expected);
  });

  it('WF-AGENT-02 has no intent where the manifest gives none', () => {
    expect(world().settle().agentOf('s').spec).not.toHaveProperty('intent');
  });

  it('WF-AGENT-03 WF-TPL-02 has the input rendered from intent, input, states, Blackboard and feedback', () => {
    const input = '{{intent}}|{{input.a}}|{{first.output.stdout}}|{{blackboard.k}}|{{state.feedback}}';
    const w = new World(
      aWorkflow('w')
        .state('first', aScript('x', { transitions: [{ target: 's', feedback: 'go on' }] }))
        .state('s', anAgent({ input, transitions: [] }))
        .build(),
      { spec: { intent: 'why', input: { a: 1 }, blackboard: { k: 'v' } } },
    );
    w.settle().end('first', { stdout: 'out' }).settle();
    expect(w.agentOf('s').spec.input).toBe('why|1|out|v|go on');
  });

  it.each(['inherit', 'firecracker', 'docker', 'process'] as const)(
    'WF-AGENT-04 AMB-081 has the isolation %s',
    (isolation) => {
      expect(world({ isolation }).settle().agentOf('s').spec.isolation).toBe(isolation);
    },
  );

  it.each([
    [limits.agentInputLength - 1, 1],
    [limits.agentInputLength, 1],
    [limits.agentInputLength + 1, 0],
  ])('with an input of %i characters: %i', (length, count) => {
    const w = world({ input: '{{input.text}}' }, { spec: { input: { text: 'x'.repeat(length) } } }).settle();
    expect(w.agents.size).toBe(count);
    expect(w.status.history?.[0]?.reason).toBe(count === 1 ? undefined : 'InvalidAgentInput');
  });

  it('is made once, however often the engine decides', () => {
    const w = world();
    w.step();
    const again = w.decision();
    expect(w.agents.size).toBe(1);
    expect(again.actions.filter(({ kind }) => kind === 'create_agent')).toEqual([]);
  });

  it('is another one at the next visit', () => {
    const w = world({ transitions: [{ target: 's' }] }).settle();
    const first = w.agentOf('s').name;
    w.endAgent('s', undefined).settle();
    expect(w.agentOf('s').name).not.toBe(first);
    expect(w.agentOf('s').spec.parent).toMatchObject({ visit: 2 });
  });
});

describe('the volumes of an Agent state', () => {
  const storage = { workspace: {}, shared_volumes: [{ name: 'cache' }] };
  const uid = '6f0c2a4e-0d5b-4e39-9a55-0c7f3a2f9d41';
  const mount = (volume: string) => ({ volume, mount_path: '/data', access_mode: 'read-write' as const });
  const mounted = (volumes: StateOf<'Agent'>['volumes']) => {
    const w = new World(flow({ volumes }).with({ storage }).build());
    for (const name of ['workspace', 'cache'])
      w.volumes[name] = { volume: `object-${name}`, phase: 'ready', claim: 'c' };
    w.otherVolumes.set(uid, { volume: 'by-uid', phase: 'ready', claim: 'd' });
    return w;
  };

  it.each([
    ['WF-STATE-05 WF-TPL-05', '{{workflow.storage.workspace}}', 'object-workspace'],
    ['WF-STATE-05 WF-TPL-06', '{{workflow.storage.shared_volumes.cache}}', 'object-cache'],
    ['WF-STATE-05 by name', 'cache', 'object-cache'],
    ['WF-STATE-05 by the uid of a Volume', uid, 'by-uid'],
  ])('%s %s is the Volume %s', (_id, template, volume) => {
    const w = mounted([mount(template)]).settle();
    expect(w.agentOf('s').spec.volumes).toEqual([{ volume, mount_path: '/data', access_mode: 'read-write' }]);
  });

  it.each(['read-write', 'read-only'] as const)(
    'WF-STATE-06 WF-STATE-07 are mounted where and as the state says: %s',
    (access) => {
      const w = mounted([{ volume: 'cache', mount_path: '/in/here', access_mode: access }]).settle();
      expect(w.agentOf('s').spec.volumes).toMatchObject([{ mount_path: '/in/here', access_mode: access }]);
    },
  );

  it('AMB-080 two mounts of one volume that disagree are both read-only', () => {
    const w = mounted([mount('cache'), { ...mount('cache'), mount_path: '/b', access_mode: 'read-only' }]).settle();
    expect(w.agentOf('s').spec.volumes).toMatchObject([{ access_mode: 'read-only' }, { access_mode: 'read-only' }]);
  });

  it.each([
    ['nobody', 'VolumeNotFound'],
    ['00000000-0000-4000-8000-00000000000f', 'VolumeNotFound'],
  ])('fail the state where %s is no volume', (reference, reason) => {
    const w = mounted([mount(reference)]).settle();
    expect(w.status.history?.[0]).toMatchObject({ status: 'failed', reason });
    expect(w.agents.size).toBe(0);
  });

  it.each([
    ['expired', 'VolumeExpired'],
    ['failed', 'VolumeFailed'],
  ] as const)('fail the state where one is %s', (phase, reason) => {
    const w = mounted([mount(uid)]);
    w.otherVolumes.set(uid, { volume: 'by-uid', phase, message: 'why' });
    expect(w.settle().status.history?.[0]).toMatchObject({ status: 'failed', reason });
  });
});

describe('what an Agent state leaves behind', () => {
  it('WF-AGENT-05 WF-AGENT-06 WF-AGENT-07 WF-AGENT-08 status, output, score and iterations', () => {
    const w = world().settle().endAgent('s', undefined, { output: 'done', score: 0.8, iterations: 3 }).settle();
    expect(w.board()['s']).toEqual({ status: 'success', output: 'done', score: 0.8, iterations: 3 });
    expect(w.visits()).toEqual(['s', 'good']);
  });

  it('AMB-006 the confidence where the agent states one', () => {
    const w = world().settle().endAgent('s', undefined, { confidence: 0.4 }).settle();
    expect(w.board()['s']).toEqual({ status: 'success', output: '', score: null, iterations: 0, confidence: 0.4 });
  });

  it('WF-TPL-07 WF-TPL-11 WF-TPL-12 AMB-006 templates read output, status, score and confidence', () => {
    const prompt = '{{s.output}} {{s.status}} {{s.score}} {{s.confidence}}';
    const w = new World(
      aWorkflow('w')
        .state('s', anAgent({ transitions: [{ target: 't' }] }))
        .state('t', anAgent({ input: prompt, transitions: [] }))
        .build(),
    );
    w.settle().endAgent('s', undefined, { output: 'text', score: 0.5, confidence: 0.25 }).settle();
    expect(w.agentOf('t').spec.input).toBe('text success 0.5 0.25');
  });

  it('a large final text in the output store', () => {
    const output = 'x'.repeat(limits.agentOutputLength);
    const w = world().settle().endAgent('s', undefined, { output }).settle();
    expect(w.board()['s']).toMatchObject({ output });
    expect(w.blobs.size).toBe(1);
  });

  it.each(['failed', 'cancelled'] as const)('WF-AGENT-05 WF-COND-11 the failure of one that %s', (phase) => {
    const why = { reason: 'AgentNotFound', message: 'no Agent has the name writer' };
    const w = world().settle().endAgent('s', undefined, { phase, why, score: 0.2 }).settle();
    expect(w.board()['s']).toEqual({ status: 'failed', output: '', score: 0.2, iterations: 0 });
    expect(w.status.history?.[0]).toMatchObject({ status: 'failed', reason: 'AgentFailed' });
    expect(w.status.history?.[0]?.message).toContain('AgentNotFound: no Agent has the name writer');
    expect(w.visits()).toEqual(['s', 'bad']);
  });

  it('a failure where a user deleted it, and no second agent', () => {
    const w = world().settle();
    w.agents.clear();
    w.settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'AgentFailed', message: expect.stringContaining('deleted') });
    expect(w.agents.size).toBe(0);
  });
});

describe('rules on an Agent state', () => {
  const ruled = (rule: object, fields: object) => {
    const transitions = [{ ...rule, target: 'good' }, { target: 'bad' }] as State['transitions'];
    const w = world({ transitions }).settle().endAgent('s', undefined, fields).settle();
    return w.visits().at(-1) === 'good';
  };

  it.each([
    ['score_above', 0.69, false],
    ['score_above', 0.7, false],
    ['score_above', 0.71, true],
    ['score_below', 0.69, true],
    ['score_below', 0.7, false],
    ['score_below', 0.71, false],
  ])('WF-COND-15 WF-COND-16 %s 0.7 with a score of %d: %s', (condition, score, matches) => {
    expect(ruled({ condition, threshold: 0.7 }, { score })).toBe(matches);
  });

  it.each([
    [0.39, false],
    [0.4, true],
    [0.6, true],
    [0.61, false],
  ])('WF-COND-17 score_between 0.4 and 0.6 with a score of %d: %s', (score, matches) => {
    expect(ruled({ condition: 'score_between', min: 0.4, max: 0.6 }, { score })).toBe(matches);
  });

  it.each([
    [0.5, false],
    [0.51, true],
    [undefined, false],
  ])('WF-COND-18 AMB-006 confidence_above 0.5 with a confidence of %s: %s', (confidence, matches) => {
    expect(ruled({ condition: 'confidence_above', threshold: 0.5 }, { confidence })).toBe(matches);
  });

  it.each([
    { condition: 'score_above', threshold: 0 },
    { condition: 'score_below', threshold: 1 },
    { condition: 'score_between', min: 0, max: 1 },
  ])('AMB-066 $condition without a score is false', (rule) => {
    expect(ruled(rule, {})).toBe(false);
  });
});

describe('the time of an Agent state', () => {
  it('AMB-070 its timeout cancels the agent and fails the state', () => {
    const w = world({ timeout: '10s' }).settle().pass(9_999).settle();
    expect(w.agentOf('s').cancelled).toBe(false);
    w.pass(1).settle();
    expect(w.agentOf('s').cancelled).toBe(true);
    expect(w.status.history?.[0]).toMatchObject({ status: 'failed', reason: 'StateTimeout' });
  });

  it('AMB-190 the default timeout counts from the start of the agent', () => {
    const w = world();
    w.agentsStart = false;
    w.settle().pass(400_000).settle();
    expect(w.status.phase).toBe('running');
    w.changeAgent('s', undefined, { phase: 'running', startedAt: w.now }).pass(299_999).settle();
    expect(w.visits()).toEqual([]);
    w.pass(1).settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'StateTimeout' });
  });

  it('AMB-190 an agent that never starts is awaited for an hour, and the state says for what it waits', () => {
    const w = world();
    w.agentsStart = false;
    w.settle().changeAgent('s', undefined, { why: { reason: 'AgentNotReady', message: 'not checked yet' } });
    w.pass(10_000).settle();
    expect(w.status).toMatchObject({ reason: 'WaitingForAgent', message: expect.stringContaining('AgentNotReady') });
    w.pass(3_589_999).settle();
    expect(w.visits()).toEqual([]);
    w.pass(1).settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'NeverStarted' });
    expect(w.agentOf('s').cancelled).toBe(true);
  });

  it('what ended in time counts although the state is looked at after its deadline', () => {
    const w = world({ timeout: '10s' }).settle();
    w.endAgent('s', undefined, { output: 'in time' }).pass(60_000).settle();
    expect(w.board()['s']).toMatchObject({ status: 'success', output: 'in time' });
  });

  it('AMB-014 a cancel of the execution cancels its agent, again until it says so', () => {
    const w = world().settle().cancel();
    const lost = w.step((action) => action.kind !== 'cancel_agent');
    expect(lost.actions).toMatchObject([{ kind: 'cancel_agent', name: w.agentOf('s').name }]);
    w.settle();
    expect(w.agentOf('s').cancelled).toBe(true);
    expect(w.decision().actions.filter(({ kind }) => kind === 'cancel_agent')).toEqual([]);
  });

  it('leaves an agent that has ended alone', () => {
    const w = world().settle().endAgent('s', undefined).settle();
    expect(w.agentOf('s').cancelled).toBe(false);
  });
});

describe('an AgentExecution that the API server does not take', () => {
  it('for want of a right or a quota is awaited, and the state says why', () => {
    const w = world();
    w.blocked = { reason: 'QuotaExceeded', message: 'no room' };
    w.settle();
    expect(w.status).toMatchObject({ phase: 'running', reason: 'QuotaExceeded' });
    w.blocked = undefined;
    expect(w.settle().agents.size).toBe(1);
  });

  it('as it is fails the state', () => {
    const w = world();
    w.step(() => false);
    w.blocked = { reason: 'Refused', message: 'not valid', child: w.status.current?.child?.name };
    w.settle();
    expect(w.status.history?.[0]).toMatchObject({ reason: 'Refused', message: expect.stringContaining('not valid') });
  });
});

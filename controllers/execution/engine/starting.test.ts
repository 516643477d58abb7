import { describe, expect, it } from 'vitest';
import type { State } from '../../../crds/schema/state.ts';
import { after, begin } from '../../../test/builders/execution-builder.ts';
import { aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import type { OutcomeFields } from '../../../test/builders/world-pods.ts';

const noNode = { reason: 'WaitingForNode', message: 'Unschedulable: 0/2 nodes are available.', since: 0 } as const;

/** A world whose pods find no node at first. */
function waitingWorld(state: State): World {
  const world = new World(aWorkflow('w').state('a', state).build());
  world.waiting = noNode;
  return world.settle();
}

/** Kubernetes says something else of the pods that wait. */
function wait(world: World, message: string): void {
  const waiting = { reason: 'WaitingForContainer', message, since: 0 } as const;
  for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, waiting });
  world.settle();
}

/** Writes of status so far: a decision that changes nothing is none. */
const writesOf = ({ decisions }: World): number =>
  decisions.filter(({ status }, i) => JSON.stringify(status) !== JSON.stringify(decisions[i - 1]?.status)).length;

const parallel = (fields: object = {}): State =>
  ({
    kind: 'ParallelContainerRun',
    steps: ['x', 'y'].map((name) => ({ name, image: 'i', command: ['x'] })),
    transitions: [],
    ...fields,
  }) as State;

describe('the default timeout', () => {
  it.each([
    { ms: 299_999, over: false },
    { ms: 300_000, over: true },
    { ms: 300_001, over: true },
  ])(
    'WF-STATE-04 AMB-190 counts from the start of the container: after $ms ms of running, over is $over',
    ({ ms, over }) => {
      const world = waitingWorld(aScript('x')).pass(1_800_000).settle();
      expect(world.running()).toEqual(['a']);
      world.begin('a').settle().pass(ms).settle();
      expect(world.running()).toEqual(over ? [] : ['a']);
      expect(world.status.history?.[0]?.reason).toBe(over ? 'StateTimeout' : undefined);
    },
  );

  it('AMB-190 of parallel steps counts from the start of the first one', () => {
    const world = waitingWorld(parallel()).pass(600_000).begin('a/x').settle().pass(300_000).settle();
    expect(world.board()['a']).toMatchObject({
      x: { exit_code: 124 },
      y: { exit_code: -1, error: expect.stringContaining('NeverStarted') },
    });
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'StateTimeout' }]);
  });

  it('AMB-190 is written down once the container has run for five seconds, and not before', () => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build()).settle();
    expect(world.decisions.at(-1)?.wakeAt).toBe(begin + 5_000);
    world.pass(4_999).settle();
    expect(world.status.current?.deadline).toBeUndefined();
    world.pass(1).settle();
    expect(world.status.current).toMatchObject({ started_at: after(0), deadline: after(300) });
    expect(world.decisions.at(-1)?.wakeAt).toBe(begin + 300_000);
  });

  it.each([
    { clock: 'an hour behind', begunAt: Number.POSITIVE_INFINITY },
    { clock: 'an hour ahead', begunAt: begin + 4_200_000 },
  ])("AMB-190 counts by our own clock where the node's is $clock", ({ begunAt }) => {
    const world = waitingWorld(aScript('x')).pass(600_000);
    for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, begunAt, waiting: undefined });
    world.settle();
    expect(world.status.current).toMatchObject({ started_at: after(600), deadline: after(900) });
  });

  it('AMB-190 of attempts counts from the start of the first one', () => {
    const a = aScript('x', { retry: { max_attempts: 3, backoff: '10s' } });
    const world = waitingWorld(a).pass(60_000).begin('a');
    world.end('a', { exitCode: 1 }).settle();
    expect(world.status.current).toMatchObject({ attempt: 2, started_at: after(60), deadline: after(360) });
  });

  it('AMB-190 one that the manifest sets counts from entry, and a step that has not begun by then never did', () => {
    const world = waitingWorld(aScript('x', { timeout: '10s', retry: { max_attempts: 5 } }))
      .pass(10_000)
      .settle();
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'NeverStarted', attempts: 1 }]);
    expect(world.board()['a']).toMatchObject({ exit_code: -1 });
  });
});

describe('queue_timeout', () => {
  it.each([
    { queue: undefined, ms: 3_599_999, over: false },
    { queue: undefined, ms: 3_600_000, over: true },
    { queue: '20s', ms: 19_999, over: false },
    { queue: '20s', ms: 20_000, over: true },
    { queue: '20s', ms: 20_001, over: true },
  ])('AMB-190 $queue: a step that has waited for $ms ms has never started: $over', ({ queue, ms, over }) => {
    const fields = queue === undefined ? {} : { queue_timeout: queue };
    const world = waitingWorld(aScript('x', fields)).pass(ms).settle();
    expect(world.running()).toEqual(over ? [] : ['a']);
    const message = `state a did not start within its queue_timeout of ${queue ?? '1h'}; it waited: ${noNode.message}`;
    expect(world.status.history ?? []).toMatchObject(over ? [{ reason: 'NeverStarted', message }] : []);
  });

  it('AMB-190 of a second attempt counts from when that was due', () => {
    const a = aScript('x', { timeout: '5h', queue_timeout: '10m', retry: { max_attempts: 2, backoff: '60s' } });
    const world = new World(aWorkflow('w').state('a', a).build()).settle();
    world.pass(3_600_000).end('a', { exitCode: 1 });
    world.waiting = noNode;
    world
      .settle()
      .pass(60_000 + 599_999)
      .settle();
    expect(world.running()).toEqual(['a']);
    world.pass(1).settle();
    expect(world.status.history).toMatchObject([{ reason: 'NeverStarted', attempts: 2 }]);
  });

  it('AMB-190 bounds the wait for a quota, and says which', () => {
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { queue_timeout: '1m' }))
        .build(),
    );
    world.blocked = { reason: 'QuotaExceeded', message: 'exceeded quota: q' };
    world.settle().pass(60_000).settle();
    const message = 'state a did not start within its queue_timeout of 1m; it waited: exceeded quota: q';
    expect(world.status.history).toMatchObject([{ reason: 'NeverStarted', message }]);
  });

  it.each([
    { completion: 'all_succeed', want: { status: 'failed', reason: 'NeverStarted' } },
    { completion: 'any_succeed', want: { status: 'success' } },
    { completion: 'best_effort', want: { status: 'success' } },
  ])('AMB-168 AMB-190 a step that never started has failed, and $completion judges', ({ completion, want }) => {
    const world = waitingWorld(parallel({ completion, queue_timeout: '1m' }))
      .begin('a/x')
      .end('a/x');
    world.settle().pass(60_000).settle();
    expect(world.status.history).toMatchObject([want]);
    expect(world.running()).toEqual([]);
  });
});

describe('what a step waits for', () => {
  it('is in the status in the words of Kubernetes, and in one Event, until its container runs', () => {
    const world = waitingWorld(aScript('x'));
    const waiting = { reason: 'WaitingForNode', message: noNode.message, since: after(0) };
    expect(world.status).toMatchObject({
      phase: 'running',
      reason: 'WaitingForNode',
      message: `state a waits: ${noNode.message}`,
      current: { waiting },
      conditions: [{ type: 'Succeeded', status: 'Unknown', reason: 'WaitingForNode' }, { type: 'Finished' }],
    });
    world.pass(60_000).settle();
    const events = world.happenings.filter(({ reason }) => reason === 'WaitingForNode');
    expect(events).toEqual([{ type: 'Warning', reason: 'WaitingForNode', message: `a: ${noNode.message}` }]);
    world.begin('a').pass(1_500).settle();
    expect(world.status).toMatchObject({ reason: 'Running', message: 'in state a' });
    expect(world.status.current?.waiting).toBeUndefined();
  });

  it.each([
    { ms: 1_499, shown: true },
    { ms: 1_500, shown: false },
    { ms: 1_501, shown: false },
  ])('is still shown $ms ms after the start of the container: $shown', ({ ms, shown }) => {
    const world = waitingWorld(aScript('x')).begin('a').settle();
    const written = writesOf(world);
    world.pass(ms).settle();
    expect(world.status.current?.waiting !== undefined).toBe(shown);
    expect(writesOf(world) - written).toBe(shown ? 0 : 1);
  });

  it('costs no write of its own once the step has ended within that time', () => {
    const world = waitingWorld(aScript('x')).begin('a').settle();
    const written = writesOf(world);
    world.pass(200).end('a').settle();
    expect(writesOf(world) - written).toBe(1);
    expect(world.status).toMatchObject({ phase: 'completed' });
  });

  it.each([
    { ms: 29_999, shown: true },
    { ms: 30_000, shown: false },
    { ms: 30_001, shown: false },
  ])('is shown $ms ms after the end of a container whose output is being read: $shown', ({ ms, shown }) => {
    const world = waitingWorld(aScript('x')).pass(20_000);
    const late = { begunAt: begin, endedAt: begin + 20_000, ended: true, waiting: undefined };
    for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, ...late });
    const written = writesOf(world.settle());
    world.pass(ms).settle();
    expect(world.status.current?.waiting !== undefined).toBe(shown);
    expect(writesOf(world) - written).toBe(shown ? 0 : 1);
  });

  it.each(['ContainerCreating', 'PodInitializing', 'Pulling: Pulling image "x"'])(
    'is no Event where it is the ordinary start of a pod, %s, and is one once there is trouble',
    (routine) => {
      const world = new World(aWorkflow('w').state('a', aScript('x')).build());
      world.waiting = { reason: 'WaitingForContainer', message: routine, since: 0 };
      world.settle();
      expect(world.status).toMatchObject({ message: `state a waits: ${routine}` });
      expect(world.happenings).toEqual([]);
      wait(world, 'FailedMount: no such share');
      wait(world, 'FailedMount: still no such share');
      expect(world.happenings).toEqual([
        { type: 'Warning', reason: 'WaitingForContainer', message: 'a: FailedMount: no such share' },
      ]);
    },
  );

  it('is shown two seconds after the pod was made where nothing is wrong yet', () => {
    const world = new World(aWorkflow('w').state('a', aScript('x')).build());
    world.waiting = { reason: 'WaitingForContainer', message: 'ContainerCreating', since: begin + 2_000 };
    world.settle();
    expect(world.status.reason).toBe('Running');
    expect(world.decisions.at(-1)?.wakeAt).toBe(begin + 2_000);
    world.pass(2_000).settle();
    expect(world.status).toMatchObject({ reason: 'WaitingForContainer', message: 'state a waits: ContainerCreating' });
  });

  it('says no more of a quota once nothing waits for it: a Human state waits for its signal', () => {
    const ask: State = { kind: 'Human', prompt: 'go?', transitions: [] };
    const world = new World(
      aWorkflow('w')
        .state('a', aScript('x', { next: 'ask' }))
        .state('ask', ask)
        .build(),
    );
    world.blocked = { reason: 'QuotaExceeded', message: 'exceeded quota: q' };
    world.settle();
    expect(world.status.reason).toBe('QuotaExceeded');
    world.blocked = undefined;
    world.settle().end('a');
    world.blocked = { reason: 'QuotaExceeded', message: 'exceeded quota: q' };
    world.settle();
    expect(world.status).toMatchObject({ phase: 'waiting', reason: 'WaitingForSignal' });
  });
});

describe('a pod that was lost through no fault of its own', () => {
  const drained: OutcomeFields = { exitCode: -1, failure: { reason: 'PodDrained', message: 'drain' } };
  const failed: OutcomeFields = { exitCode: 1 };
  const worldOf = (state: State): World => new World(aWorkflow('w').state('a', state).build()).settle();

  it.each([
    { what: 'without a word', fields: {}, runs: 1 },
    { what: 'with retry', fields: { retry: { max_attempts: 1 } }, runs: 4 },
    { what: 'that says no', fields: { retry: { max_attempts: 2 }, retry_on_disruption: false }, runs: 2 },
    { what: 'that says yes', fields: { retry_on_disruption: true }, runs: 4 },
  ])('AMB-191 is made again at most three times by a state $what: $runs runs', ({ fields, runs }) => {
    const world = worldOf(aScript('x', fields));
    for (let run = 1; run <= runs; run += 1) world.end('a', drained).settle();
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'PodDrained', attempts: runs }]);
  });

  it('AMB-191 does not use up retry.max_attempts, nor wait for its backoff', () => {
    const world = worldOf(aScript('x', { retry: { max_attempts: 2, backoff: '60s' }, timeout: '1h' }));
    world.end('a', drained).settle();
    expect(world.status.current).toMatchObject({ attempt: 2, disruptions: 1, retry_at: after(0) });
    world.end('a', failed).settle();
    expect(world.status.current).toMatchObject({ attempt: 3, retry_at: after(60) });
    world.pass(60_000).settle().end('a', failed).settle();
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'ExitCode', attempts: 3 }]);
  });

  it('AMB-191 of a System state and of a parallel step is made again where the state says so', () => {
    const system = worldOf({ kind: 'System', command: 'make', retry_on_disruption: true, transitions: [] });
    system.end('a', drained).settle().end('a').settle();
    expect(system.status.history).toMatchObject([{ status: 'success', attempts: 2 }]);
    const steps = worldOf(parallel({ retry_on_disruption: true }));
    steps.end('a/x', drained).end('a/y').settle();
    expect(steps.running()).toEqual(['a/x']);
    expect(steps.status.current?.retried).toEqual({ x: { attempt: 2, queued_at: after(0) } });
    steps.end('a/x', { stdout: 'second' }).settle();
    expect(steps.board()['a']).toMatchObject({ x: { stdout: 'second' } });
    const once = worldOf(parallel());
    once.end('a/x', drained).end('a/y').settle();
    expect(once.status.history).toMatchObject([{ status: 'failed', reason: 'StepsFailed' }]);
  });

  it('AMB-191 of a parallel step is made again three times, and then the step has failed', () => {
    const world = worldOf(parallel({ retry_on_disruption: true }));
    world.end('a/y');
    for (let run = 1; run <= 4; run += 1) world.end('a/x', drained).settle();
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'StepsFailed' }]);
    expect([...world.pods.values()].every(({ held }) => !held)).toBe(true);
  });
});

describe('a Subworkflow', () => {
  const child = aWorkflow('child').state('x', aScript('x')).build();
  const worldOf = (fields: object = {}): World => {
    const state = { kind: 'Subworkflow', workflow_id: 'child', transitions: [], ...fields } as State;
    return new World(aWorkflow('w').state('a', state).build(), { workflows: [child] }).settle();
  };

  it('AMB-190 times out 300 s after its child has started', () => {
    const world = worldOf().pass(600_000).settle();
    expect(world.status.phase).toBe('running');
    world
      .endChild({ startedAt: begin + 600_000 })
      .settle()
      .pass(299_999)
      .settle();
    expect(world.status.phase).toBe('running');
    world.pass(1).settle();
    expect(world.status.history).toMatchObject([{ reason: 'StateTimeout' }]);
  });

  it('AMB-190 whose child does not start within queue_timeout is NeverStarted, and the child is cancelled', () => {
    const world = worldOf({ queue_timeout: '1m' });
    world.endChild({ phase: 'pending', failure: { reason: 'VolumesPending', message: 'no class' } });
    world.pass(60_000).settle();
    expect(world.status.history).toMatchObject([{ reason: 'NeverStarted' }]);
    expect(world.status.history?.[0]?.message).toContain('VolumesPending: no class');
    expect([...world.children.values()]).toMatchObject([{ cancelled: true }]);
  });

  it.each([
    { child: 'waits', fields: { phase: 'pending' }, want: 'NeverStarted', says: 'WorkflowNotReady: not yet' },
    {
      child: 'has started and waits',
      fields: { phase: 'pending', startedAt: begin },
      want: 'StateTimeout',
      says: 'took longer',
    },
    { child: 'runs', fields: { phase: 'running', startedAt: begin }, want: 'StateTimeout', says: 'took longer' },
  ] as const)('AMB-190 with a timeout of its own whose child $child is $want', ({ fields, want, says }) => {
    const world = worldOf({ timeout: '10s' });
    world.endChild({ ...fields, failure: { reason: 'WorkflowNotReady', message: 'not yet' } });
    world.pass(10_000).settle();
    expect(world.status.history).toMatchObject([{ reason: want }]);
    expect(world.status.history?.[0]?.message).toContain(says);
  });

  it('AMB-190 with a timeout of its own whose child was never made is NeverStarted, with the cause', () => {
    const world = worldOf({ timeout: '10s' });
    world.execution = { ...world.execution, status: { phase: 'pending' } };
    world.children.clear();
    world.blocked = { reason: 'QuotaExceeded', message: 'exceeded quota: q' };
    world.step(() => false);
    world.pass(10_000).step(() => false);
    expect(world.status.history).toMatchObject([{ reason: 'NeverStarted' }]);
    expect(world.status.history?.[0]?.message).toContain('exceeded quota: q');
  });

  it.each([
    { what: 'full', reason: 'QuotaExceeded', message: 'exceeded quota: q', want: 'exceeded quota: q' },
    { what: 'away', want: 'it was not made' },
  ])('AMB-190 whose child is not made while the quota is $what is NeverStarted', ({ reason, message = '', want }) => {
    const world = worldOf({ queue_timeout: '1m' });
    world.execution = { ...world.execution, status: { phase: 'pending' } };
    world.children.clear();
    if (reason !== undefined) world.blocked = { reason: 'QuotaExceeded', message };
    const first = world.step(() => false);
    expect(first.actions).toMatchObject([{ kind: 'create_child' }]);
    expect(first.wakeAt).toBe(begin + 60_000);
    expect(world.pass(59_999).step(() => false)).toMatchObject({
      actions: [{ kind: 'create_child' }],
      wakeAt: begin + 60_000,
    });
    world.pass(1).step(() => false);
    expect(world.status.history).toMatchObject([{ reason: 'NeverStarted' }]);
    expect(world.status.history?.[0]?.message).toContain(want);
  });

  it('whose child the API server will never take fails at once, and only after it was tried', () => {
    const world = worldOf();
    const [name = ''] = world.children.keys();
    world.execution = { ...world.execution, status: { phase: 'pending' } };
    world.children.clear();
    world.blocked = { reason: 'Refused', message: 'request is too large', child: name };
    expect(world.step(() => false).actions).toMatchObject([{ kind: 'create_child', name }]);
    world.step(() => false);
    expect(world.status.history).toMatchObject([{ status: 'failed', reason: 'Refused' }]);
    expect(world.status.history?.[0]?.message).toContain('request is too large');
  });
});

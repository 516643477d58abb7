import { describe, expect, it } from 'vitest';
import { begin } from '../../../test/builders/execution-builder.ts';
import { anEnd, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { noResult } from '../../step-pods/step.ts';
import { decide } from './decide.ts';

const child = aWorkflow('child').state('x', aScript('x')).build();
const worldOf = (state: object): World => {
  const workflow = aWorkflow('w').state('a', { transitions: [], ...state } as never);
  return new World(workflow.build(), { workflows: [child] });
};

const kinds = [
  { kind: 'child', state: { kind: 'Subworkflow', workflow_id: 'child' } },
  { kind: 'agent', state: { kind: 'Agent', agent: 'writer' } },
  {
    kind: 'judge',
    state: {
      kind: 'ParallelAgents',
      agents: [{ agent: 'one' }],
      consensus: { strategy: 'weighted_average' },
    },
  },
  { kind: 'tool call', state: { kind: 'System', command: 'call_tool', env: { tool: 'svc.x' } } },
  { kind: 'step', state: aScript('x') },
  {
    kind: 'parallel step',
    state: { kind: 'ParallelContainerRun', steps: [{ name: 'x', image: 'i', command: ['x'] }] },
  },
];

/** Every object of the execution has begun to run at its start. */
function letRun(world: World): void {
  world.endChild({ phase: 'running', startedAt: begin });
  for (const maps of [world.agents, world.toolCalls]) {
    for (const [name, one] of maps) maps.set(name, { ...one, phase: 'running', startedAt: begin } as never);
  }
  for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, begunAt: begin, waiting: undefined });
}

const namesOf = ({ pods, children, agents, toolCalls }: World): string[] =>
  [pods, children, agents, toolCalls].flatMap((all) => [...all.keys()]);
const reasonsOf = ({ status }: World): unknown[] => status.history?.map(({ reason }) => reason) ?? [];

describe('a verdict that rests on a watch that is behind', () => {
  it.each(kinds)('D8 AMB-190 does not make a $kind NeverStarted that does not show and runs', ({ state }) => {
    const world = worldOf({ ...state, timeout: '2h', queue_timeout: '5s' });
    world.step();
    letRun(world);
    for (const name of namesOf(world)) world.shown.set(name, undefined);
    world.pass(5_000).settle();
    expect(reasonsOf(world)).toEqual([]);
    expect(world.status.phase).toBe('running');
  });

  it.each(kinds)('D8 AMB-190 does not make a $kind NeverStarted that seems to wait and runs', ({ state }) => {
    const world = worldOf({ ...state, timeout: '2h', queue_timeout: '5s' });
    world.step();
    letRun(world);
    const waits = { phase: 'pending', startedAt: undefined, begunAt: undefined };
    for (const name of namesOf(world)) world.shown.set(name, waits);
    world.pass(5_000).settle();
    expect(reasonsOf(world)).toEqual([]);
  });

  const made = kinds.filter(({ kind }) => !kind.includes('step'));

  it.each(made)('D8 does not count a $kind as deleted that the visit has seen and that does not show', ({ state }) => {
    const world = worldOf({ ...state, timeout: '2h' }).settle();
    for (const name of namesOf(world)) world.shown.set(name, undefined);
    world.settle();
    expect(reasonsOf(world)).toEqual([]);
  });

  it.each(made)('D8 WF-STATE-04 does not time out a $kind that had ended in time', ({ kind, state }) => {
    const world = worldOf({ ...state, timeout: '5s' });
    world.step();
    letRun(world);
    world.settle();
    for (const name of namesOf(world)) world.shown.set(name, { phase: 'running', endedAt: undefined });
    world.endChild({ phase: 'completed' });
    const said = kind === 'judge' ? '{"score":1,"confidence":1,"reasoning":"r"}' : 'said';
    if (world.agents.size > 0) world.endAgent('a', kind === 'judge' ? 0 : undefined, { output: said });
    if (world.toolCalls.size > 0) world.endToolCall();
    world.pass(5_000).settle();
    expect(world.status.history).toMatchObject([{ status: 'success' }]);
  });

  it.each(kinds)('D8 asks nothing of a $kind while no verdict is due', ({ state }) => {
    const world = worldOf({ ...state, timeout: '10s', queue_timeout: '5s' }).settle();
    world.pass(4_999).settle();
    expect(world.lastFacts?.asked).toBeUndefined();
  });

  const steps = kinds.filter(({ kind }) => kind.includes('step'));
  const silent = (reason: string) => ({
    deleting: true,
    lost: true,
    outcome: noResult({ reason: reason as 'NodeLost', message: 'node n does not answer' }),
  });

  it.each(steps.flatMap((one) => ['NodeLost', 'PodDeleted'].map((reason) => ({ ...one, reason }))))(
    'D1 D8 does not count a $kind as $reason whose node has answered since',
    ({ state, reason }) => {
      const world = worldOf({ ...state, timeout: '2h' }).settle();
      const [name = ''] = namesOf(world);
      world.shown.set(name, silent(reason));
      world.settle();
      expect(reasonsOf(world)).toEqual([]);
      expect(namesOf(world)).toEqual([name]);
    },
  );

  it.each(steps)('AMB-191 counts a $kind as lost whose node is silent on the server as well', ({ state }) => {
    const world = worldOf({ ...state, timeout: '2h' }).settle();
    const [name = ''] = namesOf(world);
    const pod = world.pods.get(name);
    if (pod !== undefined) world.pods.set(name, { ...pod, ...silent('NodeLost') });
    world.settle();
    expect(world.status.history).toMatchObject([{ status: 'failed' }]);
  });

  it('D8 asks for all steps of a state in one round', () => {
    const steps = ['x', 'y', 'z'].map((name) => ({ name, image: 'i', command: ['x'] }));
    const world = worldOf({ kind: 'ParallelContainerRun', steps, timeout: '2h', queue_timeout: '5s' });
    world.waiting = { reason: 'WaitingForNode', message: 'Unschedulable', since: 0 };
    world.settle().pass(5_000);
    expect(decide(world.facts(), world.now)).toMatchObject({ kind: 'needs', needs: { length: 3 } });
    world.settle();
    expect(reasonsOf(world)).toEqual(['NeverStarted']);
  });
});

describe('a volume that an execution needs to begin', () => {
  const id = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
  const keep = { volume: 'k', phase: 'ready', claim: 'c' } as const;
  const worldWith = (shared: object): World => {
    const storage = { shared_volumes: [{ name: 'keep', ...shared }] };
    return new World(aWorkflow('w').state('a', anEnd()).with({ storage }).build());
  };

  it.each([
    ['VolumeNotFound', { volume_id: id }, undefined],
    ['VolumeFailed', { volume_id: id }, { phase: 'failed' }],
    ['VolumeExpired', { volume_id: id }, { phase: 'expired' }],
    ['VolumeFailed', {}, { phase: 'failed' }],
    ['VolumeExpired', {}, { phase: 'expired' }],
  ])('D8 WF-STOR-09 is ready on the server: no %s of %j, which shows as %j', (_reason, shared, shown) => {
    const world = worldWith(shared);
    world.volumes['keep'] = keep;
    world.shown.set('k', shown);
    expect(world.settle().status).toMatchObject({ phase: 'completed', volumes: { keep: { volume: 'k' } } });
    expect(world.created).toEqual([]);
  });

  it.each([
    ['VolumeFailed', 'failed'],
    ['VolumeExpired', 'expired'],
  ] as const)('WF-STOR-11 is %s where it is so on the server', (reason, phase) => {
    const world = worldWith({ volume_id: id });
    world.volumes['keep'] = { ...keep, phase };
    world.step();
    expect(world.lastFacts?.asked).toEqual(new Set(['volume k']));
    expect(world.status).toMatchObject({ phase: 'failed', reason });
  });

  it('D8 waits for one that the server has and that is not ready yet', () => {
    const world = worldWith({ volume_id: id });
    world.volumes['keep'] = { volume: 'k', phase: 'pending' };
    world.shown.set('k', undefined);
    expect(world.settle().status).toMatchObject({ phase: 'pending', reason: 'VolumesPending' });
  });

  it('D8 asks for all in one round, and for none of those that are ready', () => {
    const ids = [0, 1, 2].map((last) => `${id.slice(0, -1)}${last}`);
    const shared_volumes = ids.map((volume_id, index) => ({ name: `v${index}`, volume_id }));
    const world = new World(aWorkflow('w').state('a', anEnd()).with({ storage: { shared_volumes } }).build());
    world.volumes['v1'] = keep;
    const needs = [ids[0], ids[2]].map((name) => ({ kind: 'made', made: { of: 'volume_of_uid', name } }));
    expect(decide(world.facts(), world.now)).toEqual({ kind: 'needs', needs });
    expect(world.settle().status.reason).toBe('VolumeNotFound');
  });
});

describe('a volume that an agent mounts and that its workflow does not declare', () => {
  const uid = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
  const worldWith = (phase: 'ready' | 'failed' | 'expired'): World => {
    const mount = { volume: uid, mount_path: '/data', access_mode: 'read-only' };
    const world = worldOf({ kind: 'Agent', agent: 'writer', volumes: [mount] });
    world.otherVolumes.set(uid, { volume: 'k', phase, claim: 'c' });
    return world;
  };

  it.each(['failed', 'expired'])('D8 WF-STATE-05 is mounted where it shows as %s and is ready', (phase) => {
    const world = worldWith('ready');
    world.shown.set('k', { phase });
    world.settle();
    expect(reasonsOf(world)).toEqual([]);
    expect(world.agentOf('a').spec.volumes).toMatchObject([{ volume: 'k' }]);
  });

  it.each([
    ['failed', 'VolumeFailed'],
    ['expired', 'VolumeExpired'],
  ] as const)('WF-STATE-05 fails the state where the server has it as %s too', (phase, reason) => {
    const world = worldWith(phase).settle();
    expect(reasonsOf(world)).toEqual([reason]);
  });

  it('D8 is not asked for where it shows as ready', () => {
    const world = worldWith('ready').settle();
    expect(world.lastFacts?.asked).toBeUndefined();
  });
});

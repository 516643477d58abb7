import { describe, expect, it } from 'vitest';
import { begin } from '../../../test/builders/execution-builder.ts';
import { aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
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

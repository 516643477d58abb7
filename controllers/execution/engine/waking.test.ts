import { describe, expect, it } from 'vitest';
import type { State } from '../../../crds/schema/state.ts';
import { begin } from '../../../test/builders/execution-builder.ts';
import { aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { engineLimits } from '../limits.ts';

/** No news of the pod arrives: a time that the decision gives is all that wakes the execution. */
const worldOf = (state: State): World => new World(aWorkflow('w').state('a', state).build());
const wakeAtOf = ({ decisions }: World): number | undefined => decisions.at(-1)?.wakeAt;

function endUnread(world: World): World {
  const ended = { begunAt: begin, endedAt: begin + 1_000, ended: true, held: true, waiting: undefined };
  for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, ...ended });
  return world;
}

describe('an execution of whose pod no news arrives', () => {
  it('AMB-070 looks again past its deadline while the output of an ended pod is read', () => {
    const world = endUnread(worldOf(aScript('x', { timeout: '5s' })).settle());
    world.pass(10_000).settle();
    expect(world.status.history).toBeUndefined();
    expect(wakeAtOf(world)).toBe(world.now + engineLimits.readAgainMs);
  });

  it('AMB-190 keeps a default deadline that had passed before the start became known', () => {
    const world = worldOf(aScript('x'));
    world.waiting = { reason: 'WaitingForNode', message: 'Unschedulable', since: 0 };
    world.settle();
    for (const [name, pod] of world.pods) world.pods.set(name, { ...pod, begunAt: begin, waiting: undefined });
    world.pass(3_600_000);
    const { status, wakeAt } = world.step();
    expect(Date.parse(status.current?.deadline ?? '')).toBeLessThan(world.now);
    expect(wakeAt).toBe(world.now);
    world.settle();
    expect(world.status.history).toMatchObject([{ reason: 'StateTimeout' }]);
  });

  it.each([
    ['a queue_timeout', 'waits', true, { queue_timeout: '5s', timeout: '60s' }],
    ['a timeout', 'waits', true, { timeout: '5s' }],
    ['a queue_timeout', 'is not there', false, { queue_timeout: '5s', timeout: '60s' }],
    ['a timeout', 'is not there', false, { timeout: '5s' }],
  ])('AMB-190 asks the API server before %s makes a pod that %s NeverStarted', (_bound, _how, isShown, fields) => {
    const world = worldOf(aScript('x', fields));
    world.waiting = { reason: 'WaitingForNode', message: 'Unschedulable', since: 0 };
    world.settle();
    for (const [name, pod] of world.pods) {
      if (isShown) world.shown.set(name, { begunAt: undefined, waiting: pod.waiting });
      else world.shown.set(name, undefined);
      world.pods.set(name, { ...pod, begunAt: begin + 1_000, waiting: undefined });
    }
    world.pass(5_000).settle();
    expect(world.status.history?.map(({ reason }) => reason) ?? []).not.toContain('NeverStarted');
    world.shown.clear();
    expect(world.settle().running()).toEqual('queue_timeout' in fields ? ['a'] : []);
  });

  it.each(['pending', 'running'])('has a wake-up while its pod is %s, with and without a timeout', (phase) => {
    for (const fields of [{}, { timeout: '60s' }]) {
      const world = worldOf(aScript('x', fields));
      if (phase === 'pending') world.waiting = { reason: 'WaitingForNode', message: 'Unschedulable', since: 0 };
      expect(wakeAtOf(world.settle())).toBeGreaterThan(world.now);
    }
  });
});

import { expect, it } from 'vitest';
import type { State } from '../../crds/schema/state.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { World } from '../../test/builders/world.ts';
import { anOutcome } from '../../test/builders/world-pods.ts';
import { followPods } from './apply.ts';

/** An execution whose only state runs a command, and the pod of it. */
function aRun() {
  const run: State = { kind: 'ContainerRun', image: 'app:1', command: ['true'], transitions: [{ target: 'end' }] };
  const world = new World(aWorkflow('w').state('run', run).state('end', anEnd()).build());
  world.settle();
  const [pod] = world.facts().pods;
  if (pod === undefined) throw new Error('the state has no pod');
  return { world, pod };
}

it('the log of a pod that runs is followed, and nothing else is decided for it', () => {
  const { world, pod } = aRun();
  const { actions } = world.decision();
  expect([actions, followPods([pod], actions)]).toEqual([
    [],
    [{ kind: 'follow_pod', name: pod.name, uid: pod.uid, source: 'log' }],
  ]);
});

it('of a pod that waits the Events are followed', () => {
  const { pod } = aRun();
  const waiting = { reason: 'WaitingForImage', message: 'why', since: 0 } as const;
  expect(followPods([{ ...pod, waiting }], [])).toMatchObject([{ source: 'events' }]);
});

it('a pod is followed no more once its outcome is known, or the decision lets it go', () => {
  const { pod } = aRun();
  expect(followPods([{ ...pod, outcome: anOutcome() }], [])).toEqual([]);
  expect(followPods([pod], [{ kind: 'release_pod', name: pod.name, uid: pod.uid }])).toEqual([]);
});

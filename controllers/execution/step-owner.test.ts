import { describe, expect, it } from 'vitest';
import { labels } from '../../crds/labels.ts';
import { slotOf } from '../../lib/pod-slot.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { stepOwnerOf, stepPodOf } from './step-owner.ts';

const slot = { state: 'build', visit: 2, attempt: 3 };

it('the pod of a step is labelled with execution, state, visit and attempt', () => {
  const execution = anExecution('run-1').build();
  const { uid } = execution.metadata;
  expect(stepOwnerOf(execution)).toMatchObject({
    kind: 'WorkflowExecution',
    name: 'run-1',
    uid,
    labels: { [labels.execution]: 'run-1', [labels.executionUid]: uid },
  });
  const pod = stepPodOf(execution, slot);
  expect(pod.labels).toMatchObject({ [labels.state]: 'build', [labels.visit]: '2', [labels.attempt]: '3' });
  expect(slotOf(pod)).toEqual(slot);
});

describe('names', () => {
  it('are the same for the same slot, differ for another, and fit a host name', () => {
    const long = anExecution('x'.repeat(63)).build();
    const name = (fields: object) => stepPodOf(long, { ...slot, ...fields }).name;
    expect(name({})).toBe(name({}));
    const all = [name({}), name({ visit: 3 }), name({ attempt: 4 }), name({ step: 'a' }), name({ state: 'build-2' })];
    expect(new Set(all).size).toBe(all.length);
    for (const one of all) expect(one).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  });

  it('a state name with capitals and underscores makes a valid name', () => {
    const { name } = stepPodOf(anExecution().build(), { ...slot, state: '_Build-It_' });
    expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  });
});

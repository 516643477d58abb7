import { describe, expect, it } from 'vitest';
import { anEnd, aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { anOutcome } from '../../../test/builders/world-pods.ts';
import { Draft } from './draft.ts';
import type { PodFact } from './facts.ts';
import { releasePods } from './release.ts';

const workflow = aWorkflow('w')
  .state('a', aScript('x', { transitions: [{ target: 'b' }] }))
  .state('b', anEnd())
  .build();

/** The decision about the pod of state `a`, whose current visit is 1 and attempt 2. */
function decided(fields: Partial<PodFact>, current = { attempt: 2 }) {
  const world = new World(workflow).settle();
  const [first] = world.facts().pods;
  if (first === undefined) throw new Error('no pod was made');
  const facts = world.facts({ pods: [{ ...first, slot: { ...first.slot, attempt: 2 }, ...fields }] });
  const draft = new Draft(facts, world.now, workflow.spec);
  draft.change({ kind: 'visit', fields: current });
  releasePods(draft);
  return { now: world.now, ...draft.finish() };
}

describe('pods that a state waits for', () => {
  it('are kept', () => {
    expect(decided({}).actions).toEqual([]);
  });

  it.each([
    { after: -1, wakes: false },
    { after: 0, wakes: false },
    { after: 1, wakes: true },
  ])('are looked at again when their silence counts, $after ms from now: $wakes', ({ after, wakes }) => {
    const { now } = decided({});
    expect(decided({ deleting: true, silentUntil: now + after }).wakeAt).toBe(wakes ? now + after : undefined);
  });

  it('whose outcome is known need no second look', () => {
    const { now } = decided({});
    expect(decided({ outcome: anOutcome(), silentUntil: now + 5 }).wakeAt).toBeUndefined();
  });
});

describe('pods that no state waits for', () => {
  const earlier = { attempt: 3 };

  it.each([
    { name: 'one that runs is stopped', fields: {}, stop: 'graceful' },
    { name: 'one that has ended is not', fields: { ended: true }, stop: undefined },
    { name: 'one in deletion already is not', fields: { deleting: true }, stop: undefined },
    { name: 'one on a node that does not answer is forced', fields: { deleting: true, lost: true }, stop: 'force' },
  ])('are let go: $name', ({ fields, stop }) => {
    const [action, ...more] = decided(fields, earlier).actions;
    expect(action).toMatchObject({ kind: 'release_pod', ...(stop === undefined ? {} : { stop }) });
    expect(Object.hasOwn(action ?? {}, 'stop')).toBe(stop !== undefined);
    expect(more).toEqual([]);
  });

  it('and were let go before are left alone', () => {
    expect(decided({ held: false }, earlier).actions).toEqual([]);
  });
});

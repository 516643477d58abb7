import { expect, it } from 'vitest';
import { changedFields } from './changed-fields.ts';

const before = {
  version: '1.0.0',
  description: 'a',
  states: { build: { image: 'a:1', env: { A: '1' } }, end: { kind: 'System' } },
};

it.each<[what: string, after: object, want: string]>([
  ['nothing', structuredClone(before), ''],
  ['a field of the spec', { ...before, description: 'b' }, 'spec.description'],
  ['a field that is new', { ...before, storage: {} }, 'spec.storage'],
  [
    'a field of a state',
    { ...before, states: { ...before.states, build: { ...before.states.build, image: 'a:2' } } },
    'spec.states.build.image',
  ],
  [
    'a deeper change, by its field',
    { ...before, states: { ...before.states, build: { ...before.states.build, env: { A: '2' } } } },
    'spec.states.build.env',
  ],
  ['a state that is gone', { ...before, states: { build: before.states.build } }, 'spec.states.end'],
  ['another order of keys is none', Object.fromEntries(Object.entries(before).toReversed()), ''],
  [
    'five at most',
    { ...before, a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1 },
    'spec.a, spec.b, spec.c, spec.d, spec.e and 2 more',
  ],
])('WF-API-11 %s', (_what, after, want) => {
  expect(changedFields(before, after)).toBe(want);
});

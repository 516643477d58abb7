import { expect, it } from 'vitest';
import { createRejectedPods } from './rejected-pods.ts';

const uid = 'owner';
const slot = (attempt: number) => ({ state: 's', visit: 1, attempt });
const why = (message: string) => ({ reason: 'PodRejected', message }) as const;

it('a refused pod is a fact that has failed and that nothing waits for', () => {
  const rejected = createRejectedPods();
  rejected.add(uid, 'p1', slot(1), why('bad image'));
  expect(rejected.of(uid)).toMatchObject([
    { name: 'p1', slot: slot(1), held: false, ended: true, outcome: { exitCode: -1, failure: why('bad image') } },
  ]);
  expect(rejected.of('another')).toEqual([]);
});

it('a pod that is refused again replaces what was known of it, and no other', () => {
  const rejected = createRejectedPods();
  for (const [name, message] of [
    ['p1', 'a'],
    ['p2', 'b'],
    ['p1', 'c'],
  ] as const) {
    rejected.add(uid, name, slot(1), why(message));
  }
  expect(rejected.of(uid).map(({ name, outcome }) => [name, outcome?.failure?.message])).toEqual([
    ['p2', 'b'],
    ['p1', 'c'],
  ]);
});

it('is forgotten with its owner', () => {
  const rejected = createRejectedPods();
  rejected.add(uid, 'p1', slot(1), why('a'));
  rejected.forget(uid);
  expect(rejected.of(uid)).toEqual([]);
});

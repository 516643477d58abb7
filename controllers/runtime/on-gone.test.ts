import { expect, it } from 'vitest';
import type { KubeObject } from '../../lib/kube/index.ts';
import { onGone } from './on-gone.ts';

const object = (uid: string): KubeObject => ({ metadata: { name: 'x', namespace: 'n', uid } });

it.each([
  { what: 'appears', before: undefined, after: object('a'), forgotten: [] },
  { what: 'changes', before: object('a'), after: object('a'), forgotten: [] },
  { what: 'is deleted', before: object('a'), after: undefined, forgotten: ['a'] },
  { what: 'is replaced under its name', before: object('a'), after: object('b'), forgotten: ['a'] },
  { what: 'was never readable', before: undefined, after: undefined, forgotten: [] },
])('what is kept for an object that $what: forgotten is $forgotten', ({ before, after, forgotten }) => {
  const uids: string[] = [];
  onGone({ onChange: (tell) => tell({ key: 'n/x', before, after, own: false }) }, (uid) => uids.push(uid));
  expect(uids).toEqual(forgotten);
});

import { expect, it } from 'vitest';
import { differences } from './differences.ts';

const pod = (name: string, version: number) => ({
  metadata: { namespace: 'a', name, resourceVersion: String(version) },
});

it.each([
  { what: 'the same version', server: [pod('x', 3)], held: [pod('x', 3)], want: [] },
  { what: 'our own newer version', server: [pod('x', 3)], held: [pod('x', 10)], want: [] },
  { what: 'an older version', server: [pod('x', 10)], held: [pod('x', 9)], want: ['a/x 10'] },
  { what: 'nothing', server: [pod('x', 3)], held: [], want: ['a/x 3'] },
  { what: 'what is gone', server: [], held: [pod('x', 3)], want: ['a/x 3 gone'] },
])('a cache that holds $what differs in $want', ({ server, held, want }) => {
  const versions = new Map(server.map(({ metadata }) => [`a/${metadata.name}`, metadata.resourceVersion ?? '']));
  expect([...differences(versions, held)]).toEqual(want);
});

import { expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { slimExecution } from '../../../lib/execution/slim-execution.ts';
import { anExecution } from '../../../test/builders/execution-builder.ts';
import { aScript, aWorkflow } from '../../../test/builders/workflow-builder.ts';
import { World } from '../../../test/builders/world.ts';
import { statusPatch } from '../../runtime/status-patch.ts';

const named = (index: number) => ({ name: `again-${index}`, uid: `u${index}` });
const world = new World(aWorkflow('demo').state('a', aScript('x')).build());

/** Writes to a finished execution of which the cache keeps a part. */
function written(known: readonly number[], found: readonly number[]) {
  const built = anExecution().ended('failed', 0).build();
  const metadata = { ...built.metadata, resourceVersion: '7', generation: 1 };
  const status = { phase: 'failed' as const, ...built.status, successors: known.map(named) };
  const slim = slimExecution({ ...built, metadata, status });
  world.execution = slim;
  const settled = { ...slim, status: world.decision().status };
  world.execution = settled;
  return statusPatch(settled, world.decision({ successors: found.map(named) }).status);
}

const indexes = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

it.each([
  { what: 'is there already', known: [1], found: [1] },
  { what: 'was deleted meanwhile', known: [1], found: [] },
  { what: 'was deleted while another is there', known: [1, 2], found: [2] },
  {
    what: 'is one of more than are kept',
    known: indexes(1, limits.successors + 1),
    found: indexes(0, limits.successors + 1),
  },
])('nothing is written where a successor $what', ({ known, found }) => {
  expect(written(known, found)).toBeUndefined();
});

it('a new successor is written beside those that are known or were deleted', () => {
  expect(written([1], [2])?.slice(1)).toEqual([{ op: 'add', path: '/status/successors/-', value: named(2) }]);
});

import { expect, it } from 'vitest';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../lib/clock.ts';
import { fleetRuns } from '../../../lib/kinds.ts';
import { nested } from '../../../test/support/nested.ts';
import { changeSpec } from './change-spec.ts';
import { unknownRun } from './errors.ts';

const run: FleetRun = {
  apiVersion: 'windlass.dev/v1',
  kind: 'FleetRun',
  metadata: { name: 'run', namespace: 'tenant-acme', uid: 'u', generation: 3 },
  spec: { target: { All: {} }, tool: 'cmd.run', requested_by: 'ada', args: { a: nested(9_000) } },
};

/** The bodies that were sent for a change. */
async function sent(change: (spec: FleetRun['spec']) => FleetRun['spec']): Promise<unknown[]> {
  const bodies: unknown[] = [];
  const kube = {
    get: async () => run,
    jsonPatch: async (_resource: unknown, _ref: unknown, operations: unknown) => {
      // As it is written to the API server.
      bodies.push(JSON.parse(JSON.stringify(operations)));
      return run;
    },
  };
  const deps = { kube: kube as never, clock: systemClock };
  await changeSpec(deps, { resource: fleetRuns, object: run, change, unknown: unknownRun });
  return bodies;
}

const guards = [
  { op: 'test', path: '/metadata/uid', value: 'u' },
  { op: 'test', path: '/metadata/generation', value: 3 },
];

it('EDGE-REST-35 the cancellation of a run is written beside arguments that no process can write', async () => {
  const cancel = { by: 'ada', at: '2026-01-01T00:00:00Z', via: 'api' } as const;
  const want = [[...guards, { op: 'add', path: '/spec/cancel', value: cancel }]];
  expect(await sent((spec) => ({ ...spec, cancel }))).toEqual(want);
});

it('a field that is left out, or undefined, is removed, and what is so already is not written', async () => {
  const removed = [[...guards, { op: 'remove', path: '/spec/args' }]];
  expect(await sent(({ args: _args, ...spec }) => spec)).toEqual(removed);
  expect(await sent((spec) => ({ ...spec, args: undefined }))).toEqual(removed);
  expect(await sent((spec) => ({ ...spec, target: { All: {} }, cancel: undefined }))).toEqual([]);
});

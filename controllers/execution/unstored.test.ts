import { expect, it } from 'vitest';
import { WaitError } from '../../lib/errors.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { begin } from '../../test/builders/execution-builder.ts';
import { aScript, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { World } from '../../test/builders/world.ts';
import { createBlocked } from './blocked.ts';
import { refusedByQuota } from './unstored.ts';

const request = { verb: 'create', resource: 'configmaps' } as never;
const full = new KubeError(403, { message: 'exceeded quota: q', reason: 'Forbidden' } as never, request);

it('AMB-190 outputs that find no room in a quota wait for queue_timeout, show why, and take no memory', () => {
  const state = aScript('x', { queue_timeout: '1m' });
  const world = new World(aWorkflow('demo').state('a', state).build()).settle().end('a');
  const unstored = createBlocked();
  const given: string[] = [];
  const refuse = (now: number) =>
    refusedByQuota({ unstored, onUnstored: (uid) => given.push(uid) }, world.facts(), full, now);
  expect(() => refuse(begin)).toThrow(WaitError);
  expect(given).toEqual([...world.pods.values()].map(({ uid }) => uid));
  expect(() => refuse(begin + 59_999)).toThrow(expect.objectContaining({ reason: 'QuotaExceeded', afterMs: 10_000 }));
  expect(refuse(begin + 60_000)).toMatchObject({ reason: 'QuotaExceeded' });
  const why = unstored.why(world.execution.metadata.uid ?? '');
  const pods = [...world.pods.values()].map((pod) => ({ ...pod, outcome: undefined }));
  expect(world.decision({ pods, unstored: why }).status).toMatchObject({
    reason: 'QuotaExceeded',
    message: why?.message,
  });
  expect(world.decision({ unstored: why }).status.reason).not.toBe('QuotaExceeded');
});

it('an output whose pod is going keeps its memory, for its log cannot be read again', () => {
  const world = new World(aWorkflow('demo').state('a', aScript('x')).build()).settle();
  const given: string[] = [];
  const pods = [...world.pods.values()].map((pod) => ({ ...pod, deleting: true }));
  const deps = { unstored: createBlocked(), onUnstored: (uid: string) => void given.push(uid) };
  expect(() => refusedByQuota(deps, world.facts({ pods }), full, begin)).toThrow(WaitError);
  expect(given).toEqual([]);
});

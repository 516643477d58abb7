import { expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createLiveReads } from './live-reads.ts';

/** A server whose answers for the tenant `flood` never come; nothing is there for other tenants. */
function setUp() {
  const asked: string[] = [];
  const kube = {
    get: (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      asked.push(`${namespace}/${name}`);
      if (namespace === 'flood' || name.startsWith('flood')) return new Promise<never>(() => undefined);
      return Promise.reject(new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' }));
    },
  };
  const remembered: WorkflowExecution[] = [];
  const cache = { remember: (object: WorkflowExecution) => void remembered.push(object) };
  return {
    asked,
    reads: createLiveReads({ kube: kube as never, clock: createManualClock(), resource: workflowExecutions, cache }),
  };
}

it('a tenant that looks up names without end does not block the lookups of others', async () => {
  const { reads, asked } = setUp();
  for (let i = 0; i < 2_000; i++) {
    reads.read({ namespace: 'flood', name: `n${i}` }, 'flood').catch(() => undefined);
    reads.read({ namespace: 'global', name: `flood-${i}` }, 'flood').catch(() => undefined);
  }
  await expect.poll(() => asked.length).toBe(8);
  expect(await reads.read({ namespace: 'quiet', name: 'x' }, 'quiet')).toBeUndefined();
  expect(await reads.read({ namespace: 'global', name: 'x' }, 'quiet')).toBeUndefined();
});

it('beyond what may wait a look-up is refused, for that tenant alone', async () => {
  const { reads } = setUp();
  for (let i = 0; i < 1_008; i++) void reads.read({ namespace: 'flood', name: `n${i}` }, 'flood');
  await expect(reads.read({ namespace: 'flood', name: 'more' }, 'flood')).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'Overloaded',
  });
  expect(await reads.read({ namespace: 'quiet', name: 'x' }, 'quiet')).toBeUndefined();
});

it('the same question of one tenant is asked once at a time', async () => {
  const { reads, asked } = setUp();
  const ref = { namespace: 'quiet', name: 'x' };
  await Promise.all([reads.read(ref, 'quiet'), reads.read(ref, 'quiet')]);
  expect(asked).toEqual(['quiet/x']);
});

it('D8 a question joins no read that began before it: the object may have been created meanwhile', async () => {
  const answers: PromiseWithResolvers<WorkflowExecution>[] = [];
  const get = () => {
    const answer = Promise.withResolvers<WorkflowExecution>();
    answers.push(answer);
    return answer.promise;
  };
  const cache = { remember: () => undefined };
  const deps = { kube: { get } as never, clock: createManualClock(), resource: workflowExecutions, cache };
  const reads = createLiveReads(deps);
  const ref = { namespace: 'quiet', name: 'x' };
  const before = reads.read(ref, 'quiet');
  await expect.poll(() => answers.length).toBe(1);
  const after = reads.read(ref, 'quiet');
  answers[0]?.reject(new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' }));
  expect(await before).toBeUndefined();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.resolve({ metadata: { name: 'x' } } as WorkflowExecution);
  expect(await after).toMatchObject({ metadata: { name: 'x' } });
});

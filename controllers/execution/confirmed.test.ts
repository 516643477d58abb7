import { describe, expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { createCache } from '../../lib/informer/index.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { createConfirmed } from './confirmed.ts';

const versionOf = (resourceVersion: string, uid = 'u1'): WorkflowExecution => {
  const built = anExecution('x').build();
  return { ...built, metadata: { ...built.metadata, uid, resourceVersion } };
};

/** The server's object, and a cache that is at version 5. */
function setUp(newest: WorkflowExecution | undefined) {
  let reads = 0;
  const cache = createCache<WorkflowExecution>();
  cache.replaceAll([versionOf('5')], '5');
  const kube = {
    get: async () => {
      reads += 1;
      if (newest === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'x' });
      return newest;
    },
  };
  return { confirmed: createConfirmed({ kube: kube as never, cache }), cache, reads: () => reads };
}

describe('before the first action of a leader on an execution', () => {
  it('the version is asked for once, where no status was written', async () => {
    const { confirmed, reads } = setUp(versionOf('5'));
    await confirmed.check(versionOf('5'), false);
    await confirmed.check(versionOf('5'), false);
    expect(reads()).toBe(1);
    confirmed.forget('u1');
    await confirmed.check(versionOf('5'), false);
    expect(reads()).toBe(2);
  });

  it('a status that was written is proof enough', async () => {
    const { confirmed, reads } = setUp(versionOf('6'));
    await confirmed.check(versionOf('6'), true);
    await confirmed.check(versionOf('6'), false);
    expect(reads()).toBe(0);
  });

  it('nothing is done that was decided on an old version: the newest is remembered and decided on at once', async () => {
    const { confirmed, cache } = setUp(versionOf('9'));
    await expect(confirmed.check(versionOf('5'), false)).rejects.toMatchObject({ reason: 'CacheBehind', afterMs: 0 });
    expect(cache.get('default/x')?.metadata.resourceVersion).toBe('9');
    await expect(confirmed.check(versionOf('9'), false)).resolves.toBeUndefined();
  });

  it('a version that the cache does not take, as after a restored backup, is waited for and not asked for in a loop', async () => {
    const { confirmed, cache } = setUp(versionOf('4'));
    await expect(confirmed.check(versionOf('5'), false)).rejects.toMatchObject({
      reason: 'CacheBehind',
      afterMs: 1_000,
    });
    expect(cache.get('default/x')?.metadata.resourceVersion).toBe('5');
  });

  it.each([
    { what: 'that is gone', newest: undefined },
    { what: 'that was made anew under the name', newest: versionOf('9', 'u2') },
  ])('nothing is done for one $what', async ({ newest }) => {
    await expect(setUp(newest).confirmed.check(versionOf('5'), false)).rejects.toMatchObject({ reason: 'Deleted' });
  });
});

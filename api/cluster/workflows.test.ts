import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { annotations, globalNamespace, labels } from '../../crds/labels.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCache } from '../../lib/informer/index.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { userObjectName } from '../../lib/manifest/index.ts';
import { type ListedWorkflow, ownerKey, workflowIndexes } from '../../lib/workflow-lookup/index.ts';
import { createWorkflows, type Viewer } from './workflows.ts';

const hash = 'a'.repeat(40);
const workflow = (name: string): Workflow =>
  ({ metadata: { name, namespace: 'tenant-acme', uid: `uid-of-${name}` }, spec: { states: {} } }) as never;
const kept = [
  workflow('build'),
  workflow(`volume-files-${hash.slice(8)}`),
  workflow(`cli-tool-${hash}`),
  // A user's own: its name only begins like one of ours.
  workflow('volume-files-mine'),
];

const workflows = createWorkflows({
  clock: systemClock,
  kube: {
    get: async (_kind: unknown, { name }: { name: string }) => {
      const found = kept.find(({ metadata }) => metadata.name === name);
      if (found !== undefined) return found;
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'workflows' });
    },
  } as never,
  tenants: { namespaceOf: () => 'tenant-acme' } as never,
  whole: async (found) => found as never,
  weight: () => 0,
  cache: {
    remember: () => undefined,
    getByUid: (uid: string) => kept.find(({ metadata }) => metadata.uid === uid),
    byIndex: (index: string, key: string) =>
      kept.filter(({ metadata }) => index === 'namespace' && metadata.namespace === key),
  } as never,
});
const user = { tenant: 'acme', subject: 'ada' };

describe('AMB-194 workflows that our own tools run', () => {
  it('are in no list, whatever their labels are', () => {
    const names = workflows.list(user).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['build', 'volume-files-mine']);
  });

  it('are found by no caller, and by the tools themselves', async () => {
    const found = (viewer: Viewer) =>
      Promise.all(kept.map(({ metadata }) => workflows.locate(viewer, metadata.uid ?? '').then(Boolean)));
    expect(await found(user)).toEqual([true, false, false, true]);
    expect(await found({ ...user, seesHelpers: true })).toEqual([true, true, true, true]);
  });
});

describe('D8 a global workflow that the cache shows, and the own one that only the server has', () => {
  const of = (namespace: string, uid: string, more: object = {}): Workflow =>
    ({ metadata: { name: 'build', namespace, uid, resourceVersion: '9', ...more }, spec: { states: {} } }) as never;
  const global = of(globalNamespace, 'global');
  const own = of('tenant-acme', 'own');
  const key = ownerKey('ada');
  const hers = of('tenant-acme', 'hers', {
    name: userObjectName(key, 'build'),
    annotations: { [annotations.name]: 'build' },
    labels: { [labels.user]: key },
  });

  async function located(cached: readonly Workflow[], server: readonly Workflow[], wanted = 'build', scope?: 'global') {
    const cache = createCache<ListedWorkflow, keyof typeof workflowIndexes>({ indexes: workflowIndexes });
    cache.replaceAll(cached, '5');
    const read: string[] = [];
    const get = async (_kind: unknown, place: { readonly namespace: string; readonly name: string }) => {
      read.push(`${place.namespace}/${place.name}`);
      const found = server.find(
        ({ metadata: { name, namespace } }) => name === place.name && namespace === place.namespace,
      );
      if (found !== undefined) return found;
      throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'workflows' });
    };
    const found = await createWorkflows({
      clock: systemClock,
      kube: { get } as never,
      tenants: { namespaceOf: () => 'tenant-acme' } as never,
      whole: async (one) => one as never,
      weight: () => 0,
      cache,
    }).locate(user, wanted, scope);
    return { uid: found?.metadata.uid, read };
  }

  it("WF-SUB-01 is the tenant's, and a user's own before that", async () => {
    expect((await located([global], [global, own])).uid).toBe('own');
    expect((await located([global], [global, own, hers])).uid).toBe('hers');
  });

  it('WF-SUB-01 is the global one where the server has no other', async () => {
    const { uid, read } = await located([global], [global]);
    expect([uid, read.toSorted()]).toEqual([
      'global',
      [`tenant-acme/${userObjectName(key, 'build')}`, 'tenant-acme/build'].toSorted(),
    ]);
  });

  it.each<[string, Workflow[], string, string, 'global'?]>([
    ['the own one is in the cache', [global, own], 'own', 'build'],
    ['it is meant by its id', [global], 'global', 'global'],
    ['it is meant by its scope', [global], 'global', 'build', 'global' as const],
  ])('WF-SUB-01 is found without a read where %s', async (_title, cached, uid, ...meant) => {
    expect(await located(cached, [global, own], ...meant)).toEqual({ uid, read: [] });
  });
});

import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { systemClock } from '../../lib/clock.ts';
import { KubeError } from '../../lib/kube/index.ts';
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

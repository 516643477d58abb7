import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { systemClock } from '../../lib/clock.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { createWorkflows, type Viewer } from './workflows.ts';

const hash = 'a'.repeat(40);
const workflow = (name: string, labels?: Record<string, string>): Workflow =>
  ({ metadata: { name, namespace: 'tenant-acme', uid: `uid-of-${name}`, labels }, spec: { states: {} } }) as never;
const ours = { 'app.kubernetes.io/managed-by': 'windlass' };
const kept = [
  workflow('build'),
  workflow(`volume-files-${hash.slice(8)}`, ours),
  workflow(`cli-tool-${hash}`, ours),
  // A user's own, which only looks like one of ours.
  workflow(`volume-files-${'b'.repeat(32)}`),
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
  cache: {
    remember: () => undefined,
    getByUid: (uid: string) => kept.find(({ metadata }) => metadata.uid === uid),
    byIndex: (index: string, key: string) =>
      kept.filter(({ metadata }) => index === 'namespace' && metadata.namespace === key),
  } as never,
});
const user = { tenant: 'acme', subject: 'ada' };

describe('AMB-194 workflows that our own tools run', () => {
  it('are in no list', () => {
    const names = workflows.list(user).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['build', `volume-files-${'b'.repeat(32)}`]);
  });

  it('are found by no caller, and by the tools themselves', async () => {
    const found = (viewer: Viewer) =>
      Promise.all(kept.map(({ metadata }) => workflows.locate(viewer, metadata.name).then(Boolean)));
    expect(await found(user)).toEqual([true, false, false, true]);
    expect(await found({ ...user, seesHelpers: true })).toEqual([true, true, true, true]);
  });
});

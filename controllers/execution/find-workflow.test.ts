import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { type ControllerRevision, KubeError } from '../../lib/kube/index.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { createFindWorkflow, nameOf } from './find-workflow.ts';

interface Fields {
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly version?: string;
  readonly ready?: 'True' | 'False' | 'stale' | 'none';
  readonly annotations?: Record<string, string>;
}

/** A workflow that was accepted as revision `w-<version>`, unless said otherwise. */
function stored(fields: Fields = {}): Workflow {
  const { namespace = 'team-a', uid = 'u1', resourceVersion = '10', version = '1.0.0', ready = 'True' } = fields;
  const built = aWorkflow('w').state('a', anEnd()).build();
  const condition = {
    type: 'Ready',
    status: ready === 'False' ? 'False' : 'True',
    reason: 'R',
    message: 'm',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: ready === 'stale' ? 1 : 2,
  } as const;
  const revision = `w-${version}`;
  return {
    ...built,
    metadata: {
      ...built.metadata,
      namespace,
      uid,
      resourceVersion,
      generation: 2,
      annotations: fields.annotations ?? {},
    },
    spec: { ...built.spec, version },
    status: {
      conditions: ready === 'none' ? [] : [condition],
      revision,
      versions: [{ version, revision, registered_at: '2026-01-01T00:00:00Z' }],
    },
  };
}

const revisionOf = ({ metadata, spec }: Workflow): ControllerRevision => ({
  metadata: { name: `w-${spec.version}`, namespace: metadata.namespace, resourceVersion: '9' },
  data: { spec },
  revision: 1,
});

/** A finder whose cache holds `cached` while the server holds `server`; `meanwhile` reaches the cache during a read. */
function setUp(cached: Workflow[], server: Workflow[] = cached, meanwhile: Workflow[] = []) {
  const workflows = createCache<Workflow, 'name'>({
    indexes: { name: (workflow) => [`${workflow.metadata.namespace}/${nameOf(workflow)}`] },
  });
  workflows.replaceAll(cached, '20');
  const revisions = createCache<ControllerRevision>();
  revisions.replaceAll([...server, ...meanwhile].map(revisionOf), '20');
  const asked: string[] = [];
  const get = async (_: unknown, { namespace = '', name }: { namespace?: string; name: string }) => {
    asked.push(`${namespace}/${name}`);
    for (const object of meanwhile) workflows.apply({ type: 'MODIFIED', object });
    const found = server.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (found === undefined) throw new KubeError(404, {} as never, { verb: 'get', resource: 'workflows' });
    return found;
  };
  return { asked, find: createFindWorkflow({ kube: { get: get as never }, workflows, revisions }) };
}

describe('a workflow', () => {
  it.each([
    { by: 'its name', wanted: 'w' },
    { by: 'its uid', wanted: 'u1' },
    { by: 'the name of its manifest', wanted: 'A_Long.Name' },
  ])('WF-SUB-01 is found by $by, without asking the server', async ({ wanted }) => {
    const { find, asked } = setUp([stored({ annotations: { [annotations.name]: 'A_Long.Name' } })]);
    expect(await find.current('team-a', wanted)).toMatchObject({
      kind: 'found',
      definition: { uid: 'u1', namespace: 'team-a', version: '1.0.0', revision: 'w-1.0.0' },
    });
    expect(asked).toEqual([]);
  });

  it('hides a global one of the same name', async () => {
    const own = stored();
    const { find } = setUp([stored({ namespace: globalNamespace, uid: 'g' }), own]);
    expect(await find.current('team-a', 'w')).toMatchObject({ definition: { uid: 'u1' } });
    expect(await find.current('team-b', 'w')).toMatchObject({ definition: { uid: 'g' } });
  });

  it('of another namespace is not found, not even by its uid', async () => {
    const { find } = setUp([stored()]);
    expect(await find.current('team-b', 'u1')).toMatchObject({
      kind: 'absent',
      failure: { reason: 'WorkflowNotFound' },
    });
  });

  it.each([
    { place: 'beside the execution', namespace: 'team-a' },
    { place: 'in the global namespace', namespace: globalNamespace },
  ])('that was made a moment ago $place is found on the server', async ({ namespace }) => {
    const { find } = setUp([], [stored({ namespace })]);
    expect(await find.current('team-a', 'w')).toMatchObject({ kind: 'found', definition: { namespace } });
  });

  it.each([
    { ready: 'none', kind: 'not_ready' },
    { ready: 'stale', kind: 'not_ready' },
    { ready: 'False', kind: 'absent' },
    { ready: 'True', kind: 'found' },
  ] as const)('whose condition Ready is $ready is $kind', async ({ ready, kind }) => {
    const { find } = setUp([stored({ ready })]);
    expect(await find.current('team-a', 'w')).toMatchObject({ kind });
  });

  it('that is refused in a cache which lags is looked at on the server', async () => {
    const { find } = setUp([stored({ ready: 'False' })], [stored({ resourceVersion: '30' })]);
    expect(await find.current('team-a', 'w')).toMatchObject({ kind: 'found' });
  });
});

describe('a version', () => {
  it('AMB-089 that is stored is found', async () => {
    const { find } = setUp([stored()]);
    expect(await find.current('team-a', 'w', '1.0.0')).toMatchObject({ definition: { revision: 'w-1.0.0' } });
  });

  it('that was never stored is not found', async () => {
    const { find } = setUp([stored()]);
    expect(await find.current('team-a', 'w', '3.0.0')).toMatchObject({ failure: { reason: 'VersionNotFound' } });
  });

  it('that a cache which lags does not know yet is waited for', async () => {
    const fresh = stored({ version: '2.0.0', ready: 'stale', resourceVersion: '30' });
    const { find } = setUp([stored()], [{ ...fresh, status: { ...fresh.status, versions: [] } }]);
    expect(await find.current('team-a', 'w', '2.0.0')).toMatchObject({ kind: 'not_ready' });
  });

  it('that the watch brought while the server was asked is found, and not waited for', async () => {
    const fresh = stored({ version: '2.0.0', ready: 'stale', resourceVersion: '30' });
    const accepted = stored({ version: '2.0.0', resourceVersion: '31' });
    const { find } = setUp([stored()], [{ ...fresh, status: { ...fresh.status, versions: [] } }], [accepted]);
    expect(await find.current('team-a', 'w', '2.0.0')).toMatchObject({ kind: 'found' });
  });
});

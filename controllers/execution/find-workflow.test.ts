import { describe, expect, it } from 'vitest';
import { annotations, globalNamespace, labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { ownerKey, workflowIndexes } from '../../lib/workflow-lookup/index.ts';
import { createCache } from '../../lib/informer/cache.ts';
import { workflows as workflowKind } from '../../lib/kinds.ts';
import { type ControllerRevision, findObject, KubeError } from '../../lib/kube/index.ts';
import { objectName, userObjectName } from '../../lib/manifest/index.ts';
import { revisionOf } from '../../lib/registration/index.ts';
import { anExecution } from '../../test/builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../../test/builders/workflow-builder.ts';
import { createFindWorkflow } from './find-workflow.ts';

interface Fields {
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly version?: string;
  readonly ready?: 'True' | 'False' | 'stale' | 'none';
  readonly name?: string;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
}

/** A workflow that was accepted, unless said otherwise. */
function stored(fields: Fields = {}): Workflow {
  const {
    name = 'w',
    namespace = 'team-a',
    uid = 'u1',
    resourceVersion = '10',
    version = '1.0.0',
    ready = 'True',
  } = fields;
  const built = aWorkflow('w').state('a', anEnd()).build();
  const condition = {
    type: 'Ready',
    status: ready === 'False' ? 'False' : 'True',
    reason: 'R',
    message: 'm',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: ready === 'stale' ? 1 : 2,
  } as const;
  const { annotations: notes = {}, labels: marks = {} } = fields;
  const workflow: Workflow = {
    ...built,
    metadata: { name, namespace, uid, resourceVersion, generation: 2, annotations: notes, labels: marks },
    spec: { ...built.spec, version },
  };
  const revision = nameOf(workflow);
  return {
    ...workflow,
    status: {
      conditions: ready === 'none' ? [] : [condition],
      revision,
      versions: [{ version, revision, registered_at: '2026-01-01T00:00:00Z' }],
    },
  };
}

const nameOf = (workflow: Workflow): string => revisionOf(workflow).metadata.name ?? '';

/** As the cache has it. */
function kept(workflow: Workflow): ControllerRevision {
  const revision = revisionOf(workflow);
  return { ...revision, metadata: { ...revision.metadata, resourceVersion: '9' } };
}

/** A finder whose cache holds `cached` while the server holds `server`; `meanwhile` reaches the cache during a read. */
function setUp(
  cached: Workflow[],
  server: Workflow[] = cached,
  meanwhile: Workflow[] = [],
  selectable: ControllerRevision[] = [],
) {
  const workflows = createCache<Workflow, 'name' | 'formerId'>({ indexes: workflowIndexes });
  workflows.replaceAll(cached, '20');
  const revisions = createCache<ControllerRevision>();
  revisions.replaceAll([...server, ...meanwhile].map(kept), '20');
  const asked: string[] = [];
  const get = async (_: unknown, { namespace = '', name }: { namespace?: string; name: string }) => {
    asked.push(`${namespace}/${name}`);
    for (const object of meanwhile) workflows.apply({ type: 'MODIFIED', object });
    const found = server.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (found === undefined) throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'workflows' });
    return found;
  };
  const list = async () => ({ metadata: {}, items: selectable });
  return {
    asked,
    find: createFindWorkflow({
      kube: { get: get as never, list: list as never },
      workflows,
      readWorkflow: (place) => findObject({ get: get as never }, workflowKind, place),
      revisions,
      wholeRevision: async (one) => one,
    }),
  };
}

describe('a workflow', () => {
  it.each([
    { by: 'its name', wanted: 'w', uid: 'u1' },
    { by: 'its uid', wanted: 'u1', uid: 'u1' },
    { by: 'the name of its manifest', wanted: 'dash-', uid: 'u2' },
    { by: 'the name of its object', wanted: objectName('dash-'), uid: 'u2' },
  ])('WF-SUB-01 is found by $by, without asking the server', async ({ wanted, uid }) => {
    const name = objectName('dash-');
    const { find, asked } = setUp([
      stored(),
      stored({ name, uid: 'u2', annotations: { [annotations.name]: 'dash-' } }),
    ]);
    expect(await find.current({ namespace: 'team-a', workflow: wanted })).toMatchObject({
      kind: 'found',
      definition: { uid, namespace: 'team-a', version: '1.0.0' },
    });
    expect(asked).toEqual([]);
  });

  it.each(['w', 'u1'])(
    'WF-SUB-01 by %s is none any more while it is being deleted, whatever finalizer keeps it',
    async (workflow) => {
      const kept = stored();
      kept.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
      const { find } = setUp([kept]);
      const failure = { reason: 'WorkflowNotFound', message: 'workflow w is being deleted' };
      expect(await find.current({ namespace: 'team-a', workflow })).toEqual({ kind: 'absent', failure });
    },
  );

  it('hides a global one of the same name', async () => {
    const own = stored();
    const { find } = setUp([stored({ namespace: globalNamespace, uid: 'g' }), own]);
    expect(await find.current({ namespace: 'team-a', workflow: 'w' })).toMatchObject({ definition: { uid: 'u1' } });
    expect(await find.current({ namespace: 'team-b', workflow: 'w' })).toMatchObject({ definition: { uid: 'g' } });
  });

  it('of another namespace is not found, not even by its uid', async () => {
    const { find } = setUp([stored()]);
    expect(await find.current({ namespace: 'team-b', workflow: 'u1' })).toMatchObject({
      kind: 'absent',
      failure: { reason: 'WorkflowNotFound' },
    });
  });

  it.each([
    { place: 'beside the execution', namespace: 'team-a' },
    { place: 'in the global namespace', namespace: globalNamespace },
  ])('that was made a moment ago $place is found on the server', async ({ namespace }) => {
    const { find } = setUp([], [stored({ namespace })]);
    expect(await find.current({ namespace: 'team-a', workflow: 'w' })).toMatchObject({
      kind: 'found',
      definition: { namespace },
    });
  });

  it.each([
    { ready: 'none', kind: 'not_ready' },
    { ready: 'stale', kind: 'not_ready' },
    { ready: 'False', kind: 'absent' },
    { ready: 'True', kind: 'found' },
  ] as const)('whose condition Ready is $ready is $kind', async ({ ready, kind }) => {
    const { find } = setUp([stored({ ready })]);
    expect(await find.current({ namespace: 'team-a', workflow: 'w' })).toMatchObject({ kind });
  });

  it('that is refused in a cache which lags is looked at on the server', async () => {
    const { find } = setUp([stored({ ready: 'False' })], [stored({ resourceVersion: '30' })]);
    expect(await find.current({ namespace: 'team-a', workflow: 'w' })).toMatchObject({ kind: 'found' });
  });
});

/** An execution of workflow `w` in `team-a` that has not begun. */
function wanting(version: string): WorkflowExecution {
  const execution = anExecution().with({ workflow: 'w', version }).build();
  return { ...execution, metadata: { ...execution.metadata, namespace: 'team-a' } };
}

describe('a version', () => {
  it('AMB-089 that is stored is found', async () => {
    const { find } = setUp([stored()]);
    expect(await find.pinned(wanting('1.0.0'))).toMatchObject({
      definition: { revision: nameOf(stored()) },
    });
  });

  it('that was never stored is not found', async () => {
    const { find } = setUp([stored()]);
    expect(await find.pinned(wanting('3.0.0'))).toMatchObject({
      failure: { reason: 'VersionNotFound' },
    });
  });

  it('that a cache which lags does not know yet is waited for', async () => {
    const fresh = stored({ version: '2.0.0', ready: 'stale', resourceVersion: '30' });
    const { find } = setUp([stored()], [{ ...fresh, status: { ...fresh.status, versions: [] } }]);
    expect(await find.pinned(wanting('2.0.0'))).toMatchObject({
      kind: 'not_ready',
    });
  });

  it('that the watch brought while the server was asked is found, and not waited for', async () => {
    const fresh = stored({ version: '2.0.0', ready: 'stale', resourceVersion: '30' });
    const accepted = stored({ version: '2.0.0', resourceVersion: '31' });
    const { find } = setUp([stored()], [{ ...fresh, status: { ...fresh.status, versions: [] } }], [accepted]);
    expect(await find.pinned(wanting('2.0.0'))).toMatchObject({
      kind: 'found',
    });
  });
});

describe('a workflow of user scope', () => {
  const ada = ownerKey('ada');
  const mine = stored({
    name: userObjectName(ada, 'w'),
    uid: 'mine',
    annotations: { [annotations.name]: 'w' },
    labels: { [labels.user]: ada },
  });
  const { find } = setUp([stored(), mine]);
  const current = (workflow: string, user?: string) => find.current({ namespace: 'team-a', workflow, user });

  it('WF-API-12 is what a name means in the definitions of its owner, and in no others', async () => {
    expect(await current('w', ada)).toMatchObject({ definition: { uid: 'mine', user: ada } });
    expect(await current('w')).toMatchObject({ definition: { uid: 'u1' } });
    expect(await current('w', ownerKey('sam'))).toMatchObject({ definition: { uid: 'u1' } });
  });

  it('WF-API-12 is found by its uid in the definitions of its owner alone', async () => {
    expect(await current('mine', ada)).toMatchObject({ definition: { uid: 'mine' } });
    expect(await current('mine', ownerKey('sam'))).toMatchObject({ kind: 'absent' });
    expect(await current('mine')).toMatchObject({ kind: 'absent' });
  });

  it('WF-API-12 is what an execution runs that names its uid', async () => {
    const execution = anExecution().with({ workflow: 'mine' }).build();
    const metadata = { ...execution.metadata, namespace: 'team-a' };
    expect(await find.pinned({ ...execution, metadata })).toMatchObject({ definition: { uid: 'mine', user: ada } });
  });

  it('WF-API-12 is found on the server where the watch has not brought it', async () => {
    const { find: behind } = setUp([], [mine]);
    expect(await behind.current({ namespace: 'team-a', workflow: 'w', user: ada })).toMatchObject({ kind: 'found' });
    expect(await behind.current({ namespace: 'team-a', workflow: 'w' })).toMatchObject({ kind: 'absent' });
  });
});

describe('a workflow that moved', () => {
  it('WF-API-13 is found by an id that it had before', async () => {
    const old = '0b9f2c1e-1111-4222-8333-444455556666';
    const { find } = setUp([stored({ namespace: globalNamespace, annotations: { [annotations.formerIds]: old } })]);
    expect(await find.current({ namespace: 'team-b', workflow: old })).toMatchObject({ definition: { uid: 'u1' } });
  });
});

describe('a version that the status does not list', () => {
  it('WF-API-11 is found among the revisions', async () => {
    const older = stored({ version: '0.1.0' });
    const { find } = setUp([stored()], [stored(), older], [], [kept(older)]);
    expect(await find.pinned(wanting('0.1.0'))).toMatchObject({ definition: { revision: nameOf(older) } });
  });
});

describe('a global workflow whose name the tenant has too, of which the cache shows nothing', () => {
  const global = stored({ namespace: globalNamespace, uid: 'g', resourceVersion: '50' });
  const ada = ownerKey('ada');
  const hers = stored({
    name: userObjectName(ada, 'w'),
    uid: 'hers',
    annotations: { [annotations.name]: 'w' },
    labels: { [labels.user]: ada },
  });
  const current = { namespace: 'team-a', workflow: 'w' };

  it('D8 WF-SUB-01 is not what an execution begins with, nor a state', async () => {
    const { find } = setUp([global], [global, stored()]);
    expect(await find.pinned(wanting('1.0.0'))).toMatchObject({ definition: { uid: 'u1', namespace: 'team-a' } });
    expect(await find.current(current)).toMatchObject({ definition: { uid: 'u1' } });
  });

  it('D8 is not what fails a version that the own one has', async () => {
    const { find } = setUp([global], [global, stored({ version: '2.0.0' })]);
    expect(await find.pinned(wanting('2.0.0'))).toMatchObject({ definition: { uid: 'u1', version: '2.0.0' } });
  });

  it('D8 is not what runs while the own one is not accepted yet', async () => {
    const { find } = setUp([global], [global, stored({ ready: 'none' })]);
    expect(await find.current(current)).toMatchObject({ kind: 'not_ready' });
  });

  it("D8 WF-API-12 is not what runs in the definitions of a user whose own it is, nor is the tenant's", async () => {
    const { find } = setUp([global], [global, hers]);
    expect(await find.current({ ...current, user: ada })).toMatchObject({ definition: { uid: 'hers' } });
    expect(await find.current(current)).toMatchObject({ definition: { uid: 'g' } });
    const { find: beside } = setUp([global, stored()], [global, stored(), hers]);
    expect(await beside.current({ ...current, user: ada })).toMatchObject({ definition: { uid: 'hers' } });
  });

  it('D8 is what runs where the server has none of the tenant, which takes one read', async () => {
    const { find, asked } = setUp([global]);
    expect(await find.current(current)).toMatchObject({ definition: { uid: 'g' } });
    expect(asked).toEqual(['team-a/w']);
  });

  it('D8 is what its id means, and what its namespace means, without a read', async () => {
    const { find, asked } = setUp([global], [global, stored()]);
    expect(await find.current({ ...current, workflow: 'g' })).toMatchObject({ definition: { uid: 'g' } });
    expect(await find.current({ ...current, namespace: globalNamespace })).toMatchObject({ definition: { uid: 'g' } });
    expect(asked).toEqual([]);
  });

  it('D8 gives way to the own one that the watch brought while the server was asked', async () => {
    const { find } = setUp([global], [global], [stored()]);
    expect(await find.current(current)).toMatchObject({ definition: { uid: 'u1' } });
  });
});

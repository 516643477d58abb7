import { describe, expect, it } from 'vitest';
import { createFindWorkflow } from '../../controllers/execution/find-workflow.ts';
import { workflowKey } from '../../controllers/workflow/informers.ts';
import { annotations, globalNamespace, labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { workflowIndexes } from '../../lib/workflow-lookup/index.ts';
import { createCache } from '../../lib/informer/index.ts';
import { type ControllerRevision, KubeError } from '../../lib/kube/index.ts';
import { holdsItsContent, isRevisionOf, isStored, revisionOf, storedRevision } from '../../lib/registration/index.ts';
import { anExecution } from '../builders/execution-builder.ts';
import { anEnd, aWorkflow } from '../builders/workflow-builder.ts';

/**
 * The attacker may make DaemonSets in a namespace, whose controller gives its ControllerRevisions the labels of the
 * pods. In the worst case she makes ControllerRevisions herself, in her own namespace or in the tenant's.
 */
const built = aWorkflow('deploy').state('end', anEnd()).build();
const target: Workflow = {
  ...built,
  metadata: { name: 'deploy', namespace: globalNamespace, uid: 'w1', generation: 1 },
};
const ours = revisionOf(target);
const change = (metadata: object, rest: object = {}): ControllerRevision => ({
  ...ours,
  ...rest,
  metadata: { ...ours.metadata, ...metadata },
});
const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'deploy', uid: 'd', controller: true };
const evil = { ...built.spec, description: 'evil' };

const strangers: [string, ControllerRevision][] = [
  ['of a DaemonSet', change({ name: 'deploy-5d4f8c7b9', ownerReferences: [daemonSet], annotations: {} })],
  ['of a DaemonSet under our own name', change({ ownerReferences: [daemonSet] })],
  ['with another name', change({ name: 'deploy-0000000000' })],
  ['without a hash of its content', change({ annotations: {} })],
];

describe('a ControllerRevision of a stranger', () => {
  it.each(strangers)('%s is none of ours, and wakes and blocks no workflow', (_title, revision) => {
    expect(isStored(revision)).toBe(false);
    expect(isRevisionOf(target, revision)).toBe(false);
    expect(workflowKey(revision)).toBeUndefined();
  });

  it('of another namespace is none of a global workflow, although it is made exactly like ours', () => {
    expect(isRevisionOf(target, ours)).toBe(true);
    expect(isRevisionOf(target, change({ namespace: 'tenant-b' }))).toBe(false);
  });

  it('that was made in advance under the name of ours does not pass for its content', () => {
    expect(holdsItsContent(ours)).toBe(true);
    expect(holdsItsContent(change({}, { data: { spec: evil } }))).toBe(false);
    expect(holdsItsContent(change({}, { data: {} }))).toBe(false);
  });

  it.each([...strangers, ['with other content', change({}, { data: { spec: evil } })] as const])(
    '%s does not make a version conflict',
    async (_title, revision) => {
      const kube = { list: async () => ({ metadata: {}, items: [revision] }), get: async () => revision };
      const status = { versions: [{ version: '1.0.0', revision: 'x', registered_at: '' }] };
      const found = await storedRevision(kube as never, { ...target, status }, built.spec.version);
      expect(found).toBeUndefined();
    },
  );
});

describe('a status that another writer wrote', () => {
  const runs = (workflow: object): WorkflowExecution => {
    const pin = { name: 'deploy', namespace: 'tenant-a', uid: 'w1', version: '1.0.0', revision: '', ...workflow };
    const execution = anExecution().status({ workflow: pin }).build();
    return { ...execution, metadata: { ...execution.metadata, namespace: 'tenant-a' } };
  };

  async function runsWhat(execution: WorkflowExecution, there: readonly ControllerRevision[]) {
    const revisions = createCache<ControllerRevision>();
    const kube = {
      get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
        const found = there.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
        if (found !== undefined) return found;
        throw new KubeError(404, { reason: 'NotFound' }, { verb: 'get', resource: 'controllerrevisions' });
      },
      list: async () => ({ metadata: {}, items: [] }),
    };
    const workflows = createCache<Workflow, 'name' | 'formerId'>({ indexes: workflowIndexes });
    const lookup = await createFindWorkflow({
      kube: kube as never,
      workflows,
      readWorkflow: async () => undefined,
      revisions,
      wholeRevision: async (one) => one,
    }).pinned(execution);
    return lookup.kind;
  }

  it.each<[string, object, ControllerRevision, string]>([
    ['nothing of another tenant', { namespace: 'tenant-b' }, change({ namespace: 'tenant-b' }), 'absent'],
    ['nothing that belongs to another workflow', { namespace: globalNamespace, uid: 'w2' }, ours, 'absent'],
    [
      'nothing that a DaemonSet made',
      { namespace: globalNamespace },
      change({ ownerReferences: [daemonSet] }),
      'absent',
    ],
    ['nothing of other content', { namespace: globalNamespace }, change({}, { data: { spec: evil } }), 'absent'],
    ['a global workflow', { namespace: globalNamespace }, ours, 'found'],
    ['one of its own namespace', {}, change({ namespace: 'tenant-a' }), 'found'],
  ])('makes an execution run %s', async (_title, pin, revision, want) => {
    expect(await runsWhat(runs({ ...pin, revision: revision.metadata.name }), [revision])).toBe(want);
  });

  it('may not say that a revision is another one by its labels', () => {
    const renamed = change({ labels: { ...ours.metadata.labels, [labels.workflowUid]: 'w2' } });
    expect(isStored(renamed)).toBe(false);
    const rehashed = change({ annotations: { ...ours.metadata.annotations, [annotations.specHash]: '0' } });
    expect(isStored(rehashed)).toBe(false);
  });
});

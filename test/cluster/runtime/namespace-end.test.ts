import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { archiveFinalizer, captureFinalizer } from '../../../crds/labels.ts';
import { defineResource, namespaces, type Pod, pods, type RoleBinding, roleBindings } from '../../../lib/kube/index.ts';
import { workflowExecutions } from '../../../lib/kinds.ts';
import { clusterNames } from '../../../lib/tenant/names.ts';
import { anEnd, aScript, aWorkflow } from '../../builders/workflow-builder.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from '../harness/executions.ts';
import { installedControllersWork } from '../harness/installed.ts';
import { makeTestNamespace } from '../harness/test-namespace.ts';
import { type UsedControllers, useControllers } from '../harness/used-controllers.ts';
import { waitForNone, waitForView } from '../harness/wait.ts';

const steps = 5;
const sleeps = aWorkflow('sleeps')
  .state('sleep', aScript('sleep 300', { timeout: '10m' }))
  .build();

const ends = aWorkflow('ends').state('end', anEnd()).build();

let used: UsedControllers;

beforeAll(async () => {
  used = await useControllers('ending');
});

afterAll(() => used?.release());

const isRunning = ({ status }: Pod): boolean => status?.phase === 'Running';
const isHeld = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(captureFinalizer) === true;

/** A tenant whose steps run. */
async function busyNamespace(purpose: string): Promise<string> {
  const { name: namespace } = await makeTestNamespace(used.kube, purpose);
  await ensureWorkflow(used.kube, { ...sleeps, metadata: { ...sleeps.metadata, namespace } });
  for (let i = 0; i < steps; i++) await startExecution(used.kube, { namespace, name: `s${i}` }, { workflow: 'sleeps' });
  await waitForView(
    used.kube,
    { resource: pods, namespace },
    (view) => ([...view.values()].filter(isRunning).length === steps ? true : undefined),
    { timeoutMs: 120_000, what: 'running steps' },
  );
  return namespace;
}

const deleteNamespace = (name: string) => used.kube.delete(namespaces, { name }, { propagation: 'Background' });

/** Whether there was one. */
const deleteRoleBinding = (namespace: string): Promise<boolean> =>
  used.kube.delete(roleBindings, { namespace, name: clusterNames.controllers });

const untilGone = (name: string) =>
  waitForNone(used.kube, { resource: namespaces, fieldSelector: `metadata.name=${name}` }, { timeoutMs: 90_000 });

it('a namespace deleted while steps run disappears: their pods are released before the role binding', async () => {
  const namespace = await busyNamespace('ends');
  await deleteNamespace(namespace);
  await waitForView(
    used.kube,
    { resource: pods, namespace },
    (view) => ([...view.values()].some(isHeld) ? undefined : true),
    { timeoutMs: 5_000, what: 'pods without a finalizer' },
  );
  expect(await deleteRoleBinding(namespace)).toBe(true);
  await untilGone(namespace);
});

describe('where the role binding went first', () => {
  const clusterRoleBindings = defineResource<RoleBinding>({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    namespaced: false,
  });
  const name = 'test-namespace-end';

  afterEach(() => used.kube.delete(clusterRoleBindings, { name }));

  it('AMB-174 executions that the archive holds go with the namespace', async () => {
    const { name: namespace } = await makeTestNamespace(used.kube, 'held');
    await ensureWorkflow(used.kube, { ...ends, metadata: { ...ends.metadata, namespace } });
    const names = Array.from({ length: 10 }, (_, index) => `e${index}`);
    for (const each of names) await startExecution(used.kube, { namespace, name: each }, { workflow: 'ends' });
    for (const each of names) await waitUntilFinished(used.kube, { namespace, name: each });
    await deleteRoleBinding(namespace);
    const hold = [{ op: 'add', path: '/metadata/finalizers', value: [archiveFinalizer] }] as const;
    for (const each of names) await used.kube.jsonPatch(workflowExecutions, { namespace, name: each }, hold);
    await deleteNamespace(namespace);
    expect(await untilGone(namespace)).toBe(true);
  });

  it('the namespace disappears once the role is bound in the whole cluster (docs/operating.md)', async ({ skip }) => {
    // Controllers from source are administrators here, and never lack a right.
    if (!(await installedControllersWork(used.kube))) skip();
    const namespace = await busyNamespace('stays');
    await deleteRoleBinding(namespace);
    await deleteNamespace(namespace);
    const contentDeleted = (view: ReadonlyMap<string, Pod>): true | undefined =>
      [...view.values()].every(({ metadata }) => metadata.deletionTimestamp !== undefined) ? true : undefined;
    await waitForView(used.kube, { resource: pods, namespace }, contentDeleted, { timeoutMs: 30_000 });
    const held = (await used.kube.listAll(pods, { namespace })).items.filter(isHeld);
    expect(held).toHaveLength(steps);
    await used.kube.create(clusterRoleBindings, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterNames.tenantController },
      subjects: [{ kind: 'ServiceAccount', name: clusterNames.controllers, namespace: 'windlass-system' }],
    });
    await untilGone(namespace);
  });
});

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiVersion, captureFinalizer, labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type Pod, pods } from '../../lib/kube/index.ts';
import { aScript, aWorkflow } from '../builders/workflow-builder.ts';
import { kubeconfigPath } from './harness/cluster.ts';
import { ensureWorkflow, startExecution, waitUntilFinished } from './harness/executions.ts';
import { type UsedControllers, useControllers } from './harness/used-controllers.ts';
import { waitForNone, waitForView } from './harness/wait.ts';
import { programPath } from './outputs/programs.ts';

let world: UsedControllers;
beforeAll(async () => {
  world = await useControllers('replaced');
});
afterAll(() => world?.release());

/** `kubectl replace --force` deletes the object, and makes another one under its name. */
async function replaceByForce(execution: WorkflowExecution): Promise<void> {
  const running = promisify(execFile)(await programPath('kubectl'), [
    '--kubeconfig',
    kubeconfigPath(),
    'replace',
    '--force',
    '--timeout=30s',
    '-f',
    '-',
  ]);
  running.child.stdin?.end(JSON.stringify(execution));
  await running;
}

it('an execution that is made again under its name while its step runs leaves no pod of the earlier one', async () => {
  const { kube, namespace } = world;
  const ref = { namespace, name: `run-${randomUUID().slice(0, 8)}` };
  const step = aScript('test "{{input.mode}}" = quick || sleep 600; echo {{input.mode}}', { timeout: '20m' });
  await ensureWorkflow(kube, { ...aWorkflow(ref.name).state('step', step).build(), metadata: ref });
  const spec = (mode: string): WorkflowExecution['spec'] => ({ workflow: ref.name, input: { mode } });
  const earlier = await startExecution(kube, ref, spec('slow'));
  const ofEarlier = { resource: pods, namespace, labelSelector: `${labels.executionUid}=${earlier.metadata.uid}` };
  const isHeld = ({ metadata, status }: Pod): boolean =>
    status?.phase === 'Running' && metadata.finalizers?.includes(captureFinalizer) === true;
  await waitForView(kube, ofEarlier, (view) => [...view.values()].find(isHeld));

  await replaceByForce({ apiVersion, kind: 'WorkflowExecution', metadata: ref, spec: spec('quick') });

  await waitForNone(kube, ofEarlier);
  const { metadata, status } = await waitUntilFinished(kube, ref);
  expect(metadata.uid).not.toBe(earlier.metadata.uid);
  expect(status?.history).toMatchObject([{ state: 'step', status: 'success', attempts: 1 }]);
  expect(JSON.stringify(status)).toContain('quick');
});

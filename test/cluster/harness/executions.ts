import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { Signal, WorkflowExecution, WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { createUnlessExists, isAlreadyExists, type KubeClient, type ObjectRef } from '../../../lib/kube/index.ts';
import { workflowExecutions, workflows } from './kinds.ts';
import { type WaitOptions, waitForNone, waitForObject } from './wait.ts';

const finished: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export const isFinished = (execution: WorkflowExecution): boolean => finished.has(execution.status?.phase ?? '');

/** Creates a workflow, or takes the one that is there. */
export async function ensureWorkflow(kube: KubeClient, workflow: Workflow): Promise<void> {
  await createUnlessExists(kube, workflows, workflow);
}

/** Starts an execution; see `createExecution`. */
export function startExecution(
  kube: KubeClient,
  ref: ObjectRef,
  spec: WorkflowExecutionSpec,
): Promise<WorkflowExecution> {
  const metadata = { name: ref.name, namespace: ref.namespace };
  return createExecution(kube, { apiVersion: 'windlass.dev/v1', kind: 'WorkflowExecution', metadata, spec });
}

/** Creates an execution. A test that is tried again finds that of its first attempt, which is deleted before. */
export async function createExecution(kube: KubeClient, execution: WorkflowExecution): Promise<WorkflowExecution> {
  try {
    return await kube.create(workflowExecutions, execution);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const { name, namespace } = execution.metadata;
  await kube.delete(workflowExecutions, { name, namespace }, { propagation: 'Background' });
  await waitForNone(kube, { resource: workflowExecutions, namespace, fieldSelector: `metadata.name=${name}` });
  return kube.create(workflowExecutions, execution);
}

/** Waits until an execution is completed, failed or cancelled. */
export function waitUntilFinished(kube: KubeClient, ref: ObjectRef, options?: WaitOptions): Promise<WorkflowExecution> {
  return waitForObject(kube, { resource: workflowExecutions, ...ref }, isFinished, options);
}

/** Waits until an execution is in a state that waits for a decision. */
export function waitUntilWaiting(
  kube: KubeClient,
  { state, ...ref }: ObjectRef & { readonly state: string },
  options?: WaitOptions,
): Promise<WorkflowExecution> {
  const waits = ({ status }: WorkflowExecution): boolean =>
    status?.phase === 'waiting' && status.current?.state === state;
  return waitForObject(kube, { resource: workflowExecutions, ...ref }, waits, options);
}

/** Decides a Human state as a person at a terminal would: one more entry in `spec.signals`. */
export async function sendSignal(
  kube: KubeClient,
  ref: ObjectRef,
  signal: Pick<Signal, 'state' | 'response'> & Partial<Signal>,
): Promise<void> {
  const { username } = await kube.whoAmI();
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const entry: Signal = { id: `${signal.state}-${Date.now()}`, by: username, at, via: 'kubectl', ...signal };
  const execution = await kube.get(workflowExecutions, ref);
  const path = execution.spec.signals === undefined ? '/spec/signals' : '/spec/signals/-';
  const value = execution.spec.signals === undefined ? [entry] : entry;
  await kube.jsonPatch(workflowExecutions, ref, [{ op: 'add', path, value }]);
}

import type { EventReason } from '../../crds/conditions.ts';
import { outputsFinalizer } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { type CacheReader, finalizerPlace } from '../../lib/informer/index.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { isAbsent, type JsonPatchOperation, type KubeClient } from '../../lib/kube/index.ts';
import type { BlobOwner, OutputStore } from '../../lib/output-store/output-store.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { whileThere } from '../runtime/write-status.ts';

export interface OutputsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly caches: { readonly executions: CacheReader<WorkflowExecution> };
  readonly store: OutputStore;
  readonly events: EventRecorder;
}

/** The execution as the owner of what it stores. */
export const blobOwner = ({ metadata }: WorkflowExecution): BlobOwner => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid ?? '',
});

/**
 * Sees to it that an execution cannot go before its outputs do. Called before anything is stored for it; with a store
 * that Kubernetes empties itself it does nothing. Gives the newest version of the execution back.
 */
export async function holdOutputs(deps: OutputsDeps, execution: WorkflowExecution): Promise<WorkflowExecution> {
  if (deps.store.deleteAll === undefined || isHeld(execution)) return execution;
  const { finalizers } = execution.metadata;
  const hold: JsonPatchOperation =
    finalizers === undefined
      ? { op: 'add', path: '/metadata/finalizers', value: [outputsFinalizer] }
      : { op: 'add', path: '/metadata/finalizers/-', value: outputsFinalizer };
  return whileThere(patch(deps, execution, [hold]));
}

/** Deletes the outputs of an execution that is being deleted, and lets it go. */
export async function releaseOutputs(deps: OutputsDeps, execution: WorkflowExecution): Promise<void> {
  if (!isHeld(execution)) return;
  if (deps.store.deleteAll === undefined) return tellHeld(deps, execution);
  await deps.store.deleteAll(blobOwner(execution));
  const place = await finalizerPlace(deps.kube, workflowExecutions, execution, outputsFinalizer);
  if (place === undefined) return;
  try {
    await patch(deps, execution, [{ op: 'remove', path: `/metadata/finalizers/${place}` }]);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

const isHeld = ({ metadata }: WorkflowExecution): boolean => metadata.finalizers?.includes(outputsFinalizer) === true;

/** Answers 409 where the execution has changed meanwhile; the watch then brings what is new. */
async function patch(
  { kube, caches }: OutputsDeps,
  { metadata }: WorkflowExecution,
  operations: readonly JsonPatchOperation[],
): Promise<WorkflowExecution> {
  const { name, namespace = '', resourceVersion } = metadata;
  const asRead: JsonPatchOperation = { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion };
  const written = await kube.jsonPatch(workflowExecutions, { name, namespace }, [asRead, ...operations]);
  caches.executions.remember(written);
  return written;
}

/** Outputs that were stored before the operator chose another store are not forgotten in silence. */
function tellHeld({ events }: OutputsDeps, execution: WorkflowExecution): void {
  const note =
    `outputs of this execution are in S3, and the controllers have no S3 store: set WINDLASS_OUTPUT_STORE=s3, ` +
    `or remove the finalizer ${outputsFinalizer} and leave them there`;
  const reason: EventReason = 'OutputsHeld';
  events.record({ resource: workflowExecutions, object: execution, type: 'Warning', reason, action: 'Delete', note });
}

import { archiveFinalizer } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { findObject, type JsonPatchOperation, type KubeClient } from '../../lib/kube/index.ts';

export interface HoldDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly executions: Pick<CacheReader<WorkflowExecution>, 'remember'>;
}

export const isHeldForArchive = ({ metadata }: WorkflowExecution): boolean =>
  metadata.finalizers?.includes(archiveFinalizer) === true;

/** Sees to it that a finished execution cannot go before its record is written. */
export const holdForArchive = (deps: HoldDeps, execution: WorkflowExecution): Promise<void> =>
  change(deps, execution, ({ metadata: { finalizers = [], deletionTimestamp } }) =>
    // Kubernetes takes no new finalizer for an object that is being deleted.
    finalizers.includes(archiveFinalizer) || deletionTimestamp !== undefined
      ? undefined
      : [...finalizers, archiveFinalizer],
  );

export const letGoOfArchive = (deps: HoldDeps, execution: WorkflowExecution): Promise<void> =>
  change(deps, execution, ({ metadata: { finalizers = [] } }) =>
    finalizers.includes(archiveFinalizer) ? finalizers.filter((one) => one !== archiveFinalizer) : undefined,
  );

type Finalizers = readonly string[];

/** On the newest version: the status was written a moment ago. */
async function change(
  { kube, executions }: HoldDeps,
  { metadata: { name, namespace = '', uid } }: WorkflowExecution,
  next: (newest: WorkflowExecution) => Finalizers | undefined,
): Promise<void> {
  const newest = await findObject(kube, workflowExecutions, { name, namespace });
  if (newest === undefined || newest.metadata.uid !== uid) return;
  const finalizers = next(newest);
  if (finalizers === undefined) return;
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: newest.metadata.resourceVersion },
    { op: 'add', path: '/metadata/finalizers', value: finalizers },
  ];
  executions.remember(await kube.jsonPatch(workflowExecutions, { name, namespace }, operations));
}

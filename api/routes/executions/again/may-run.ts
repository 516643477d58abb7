import { labels } from '../../../../crds/labels.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { ownerKey } from '../../../../lib/workflow-lookup/index.ts';
import { controllerRevisions, findObject, type KubeClient } from '../../../../lib/kube/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { notFound, unknownWorkflow } from '../../not-found.ts';

/**
 * Throws 404, as a start does, where the execution ran a workflow that only another user may run. The stored revision
 * names that user, also after the workflow was deleted.
 */
export async function assertMayRun(
  kube: Pick<KubeClient, 'get'>,
  { subject }: Pick<Caller, 'subject'>,
  { status }: Pick<WorkflowExecution, 'status'>,
): Promise<void> {
  const pin = status?.workflow;
  if (pin === undefined) return;
  const revision = await findObject(kube, controllerRevisions, { namespace: pin.namespace, name: pin.revision });
  const owner = revision?.metadata.labels?.[labels.user];
  if (owner !== undefined && owner !== ownerKey(subject)) throw notFound(unknownWorkflow);
}

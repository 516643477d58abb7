import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { type ControllerRevision, controllerRevisions, type KubeClient, keyOf } from '../../lib/kube/index.ts';
import { isTerminal } from '../execution/terminal.ts';

interface CollectDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  readonly executions: CacheReader<WorkflowExecution, 'revision' | 'workflow'>;
}

/**
 * Deletes the revisions of a workflow that is gone, or was replaced by another one of its name, as soon as no execution
 * runs them: deleting a workflow never ends a run. `uid` is that of the workflow that is there now.
 */
export async function collectRevisions(deps: CollectDeps, workflowKey: string, uid: string | undefined): Promise<void> {
  const abandoned = deps.revisions
    .byIndex('workflowKey', workflowKey)
    .filter((revision) => revision.metadata.labels?.[labels.workflowUid] !== uid && !isInUse(deps, revision));
  for (const { metadata } of abandoned) {
    const { name = '', namespace = '', uid: revisionUid } = metadata;
    await deps.kube.delete(controllerRevisions, { name, namespace }, { uid: revisionUid });
  }
}

/** An execution that has not been looked at yet may be about to run it. */
function isInUse({ executions }: CollectDeps, revision: ControllerRevision): boolean {
  const workflow = revision.metadata.labels?.[labels.workflow] ?? '';
  const runs = executions.byIndex('revision', keyOf(revision));
  const unseen = executions.byIndex('workflow', workflow).filter(({ status }) => status?.workflow === undefined);
  return [...runs, ...unseen].some(({ status }) => status === undefined || !isTerminal(status));
}

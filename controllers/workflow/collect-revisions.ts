import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { workflows } from '../../lib/kinds.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  findObject,
  type KubeClient,
  keyOf,
  refOfKey,
} from '../../lib/kube/index.ts';

interface CollectDeps {
  readonly kube: Pick<KubeClient, 'get' | 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  readonly executions: CacheReader<WorkflowExecution, 'revision' | 'workflow'>;
}

/**
 * Deletes the revisions of a workflow that is gone, or was replaced by another one of its name, as soon as no execution
 * runs them: deleting a workflow never ends a run. `uid` is that of the workflow in the cache. The server is asked before
 * anything is deleted: the API stores workflow and revision together, and the watch may bring the revision first.
 */
export async function collectRevisions(deps: CollectDeps, workflowKey: string, uid: string | undefined): Promise<void> {
  const abandoned = deps.revisions
    .byIndex('workflowKey', workflowKey)
    .filter((revision) => uidOf(revision) !== uid && !isInUse(deps, revision));
  if (abandoned.length === 0) return;
  const latest = await findObject(deps.kube, workflows, refOfKey(workflowKey));
  for (const { metadata } of abandoned.filter((revision) => uidOf(revision) !== latest?.metadata.uid)) {
    const { name = '', namespace = '', uid: revisionUid } = metadata;
    await deps.kube.delete(controllerRevisions, { name, namespace }, { uid: revisionUid });
  }
}

const uidOf = ({ metadata }: ControllerRevision): string | undefined => metadata.labels?.[labels.workflowUid];

/** An execution that has not been looked at yet may be about to run it. */
function isInUse({ executions }: CollectDeps, revision: ControllerRevision): boolean {
  const workflow = revision.metadata.labels?.[labels.workflow] ?? '';
  const runs = executions.byIndex('revision', keyOf(revision));
  const unseen = executions.byIndex('workflow', workflow).filter(({ status }) => status?.workflow === undefined);
  return [...runs, ...unseen].some((execution) => !finished(execution));
}

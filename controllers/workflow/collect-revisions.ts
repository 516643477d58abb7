import { labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
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
  for (const revision of abandoned.filter((one) => uidOf(one) !== latest?.metadata.uid)) await remove(deps, revision);
}

/**
 * Deletes what a version held before `force` replaced it, once no execution is there that ran it: nothing else starts it
 * any more (ADR 0044). `replaced` are names; `workflow` is as it was judged, and nothing goes once it has changed.
 */
export async function collectReplaced(
  deps: CollectDeps,
  { metadata: { namespace, name, uid, generation } }: Workflow,
  replaced: readonly string[],
): Promise<void> {
  const unused = replaced
    .map((revision) => deps.revisions.get(`${namespace}/${revision}`))
    .filter((revision) => revision !== undefined)
    .filter((revision) => !isNamed(deps, revision));
  if (unused.length === 0) return;
  const latest = await findObject(deps.kube, workflows, { namespace, name });
  if (latest?.metadata.uid !== uid || latest?.metadata.generation !== generation) return;
  for (const revision of unused) await remove(deps, revision);
}

function remove({ kube }: CollectDeps, { metadata }: ControllerRevision): Promise<boolean> {
  const { name = '', namespace = '', uid } = metadata;
  return kube.delete(controllerRevisions, { name, namespace }, { uid });
}

const uidOf = ({ metadata }: ControllerRevision): string | undefined => metadata.labels?.[labels.workflowUid];

const isInUse = (deps: CollectDeps, revision: ControllerRevision): boolean =>
  runsOf(deps, revision).some((execution) => !finished(execution));

/** One that has ended can be run again, with the content that it ran. */
const isNamed = (deps: CollectDeps, revision: ControllerRevision): boolean => runsOf(deps, revision).length > 0;

/** Executions that run it, and those that have not been looked at yet and may be about to, by name or uid. */
function runsOf({ executions }: CollectDeps, revision: ControllerRevision): WorkflowExecution[] {
  const { [labels.workflow]: name = '', [labels.workflowUid]: uid = '' } = revision.metadata.labels ?? {};
  const all = [...executions.byIndex('workflow', name), ...executions.byIndex('workflow', uid)];
  const unseen = all.filter(({ status }) => status?.workflow === undefined);
  return [...executions.byIndex('revision', keyOf(revision)), ...unseen];
}

import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { workflows } from '../../lib/kinds.ts';
import { type ControllerRevision, type KubeClient, keyOf } from '../../lib/kube/index.ts';
import type { CollectDeps } from '../definition/collect-revisions.ts';

interface WorkflowRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the workflow they name. */
  readonly executions: CacheReader<WorkflowExecution, 'revision' | 'workflow'>;
}

/** Which revisions of workflows are there, and which of them executions need. */
export function workflowCollection({ kube, revisions, executions }: WorkflowRevisions): CollectDeps {
  const runs = (revision: ControllerRevision): WorkflowExecution[] => runsOf(executions, revision);
  return {
    kube,
    resource: workflows,
    revisions,
    revisionsOfKey: (key) => revisions.byIndex('workflowKey', key),
    isInUse: (revision) => runs(revision).some((execution) => !finished(execution)),
    isNamed: (revision) => runs(revision).length > 0,
  };
}

/** Executions that run it, and those that have not been looked at yet and may be about to, by name or uid. */
function runsOf(executions: WorkflowRevisions['executions'], revision: ControllerRevision): WorkflowExecution[] {
  const { [labels.workflow]: name = '', [labels.workflowUid]: uid = '' } = revision.metadata.labels ?? {};
  const all = [...executions.byIndex('workflow', name), ...executions.byIndex('workflow', uid)];
  const unseen = all.filter(({ status }) => status?.workflow === undefined);
  return [...executions.byIndex('revision', keyOf(revision)), ...unseen];
}

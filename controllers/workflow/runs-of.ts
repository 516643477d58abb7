import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { workflows } from '../../lib/kinds.ts';
import type { ControllerRevision, KubeClient } from '../../lib/kube/index.ts';
import type { CollectDeps } from '../definition/collect-revisions.ts';
import { neededRevisions } from '../definition/runs-of.ts';

interface WorkflowRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the workflow they name. */
  readonly executions: CacheReader<WorkflowExecution, 'revision' | 'workflow'>;
}

/** Which revisions of workflows are there, and which of them executions need. */
export const workflowCollection = ({ kube, revisions, executions }: WorkflowRevisions): CollectDeps => ({
  kube,
  resource: workflows,
  revisions,
  revisionsOfKey: (key) => revisions.byIndex('workflowKey', key),
  ...neededRevisions({ executions, definition: 'workflow', isUnseen: ({ status }) => status?.workflow === undefined }),
});

import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { agents } from '../../lib/kinds.ts';
import type { ControllerRevision, KubeClient } from '../../lib/kube/index.ts';
import type { CollectDeps } from '../definition/collect-revisions.ts';
import { neededRevisions } from '../definition/runs-of.ts';

export interface AgentRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'agentUid' | 'agentKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the agent they name. */
  readonly executions: CacheReader<AgentExecution, 'revision' | 'agent'>;
}

/** Which revisions of agents are there, and which of them executions need. */
export const agentCollection = ({ kube, revisions, executions }: AgentRevisions): CollectDeps => ({
  kube,
  resource: agents,
  revisions,
  revisionsOfKey: (key) => revisions.byIndex('agentKey', key),
  ...neededRevisions({ executions, definition: 'agent', isUnseen: ({ status }) => status?.agent === undefined }),
});

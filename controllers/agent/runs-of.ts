import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { agents } from '../../lib/kinds.ts';
import { type ControllerRevision, type KubeClient, keyOf } from '../../lib/kube/index.ts';
import { subjectOf } from '../../lib/registration/index.ts';
import type { CollectDeps } from '../definition/collect-revisions.ts';

export interface AgentRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'agentUid' | 'agentKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the agent they name. */
  readonly executions: CacheReader<AgentExecution, 'revision' | 'agent'>;
}

/** Which revisions of agents are there, and which of them executions need. */
export function agentCollection({ kube, revisions, executions }: AgentRevisions): CollectDeps {
  const runs = (revision: ControllerRevision): AgentExecution[] => runsOf(executions, revision);
  return {
    kube,
    resource: agents,
    revisions,
    revisionsOfKey: (key) => revisions.byIndex('agentKey', key),
    isInUse: (revision) => runs(revision).some((execution) => !hasEnded(execution)),
    isNamed: (revision) => runs(revision).length > 0,
  };
}

/** Executions that run it, and those that have not been looked at yet and may be about to, by name or uid. */
function runsOf(executions: AgentRevisions['executions'], revision: ControllerRevision): AgentExecution[] {
  const { name = '', uid = '' } = subjectOf(revision) ?? {};
  const all = [...executions.byIndex('agent', name), ...executions.byIndex('agent', uid)];
  const unseen = all.filter(({ status }) => status?.agent === undefined);
  return [...executions.byIndex('revision', keyOf(revision)), ...unseen];
}

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Whether nothing more happens to an execution. */
export const hasEnded = ({ status }: AgentExecution): boolean => ended.has(status?.phase ?? '');

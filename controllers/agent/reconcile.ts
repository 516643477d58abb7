import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { agentWarnings } from '../../lib/agent/agent-warnings.ts';
import type { KnownAgents } from '../../lib/agent/find-agent.ts';
import { modelAliasOf } from '../../lib/agent/model-alias.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { agentExecutions, agents } from '../../lib/kinds.ts';
import { type ControllerRevision, createLastingRefusals, type KubeClient, refOfKey } from '../../lib/kube/index.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import { problemsOf } from '../../lib/registration/index.ts';
import { agentRevisionKey } from '../agent-execution/informer.ts';
import { type CollectDeps, collectRevisions } from '../definition/collect-revisions.ts';
import { judge } from '../definition/judge.ts';
import { neededRevisions } from '../definition/runs-of.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';

interface AgentRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'delete'>;
  readonly revisions: CacheReader<ControllerRevision, 'agentUid' | 'agentKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the agent they name. */
  readonly executions: CacheReader<AgentExecution, 'revision' | 'agent'>;
}

/** Which revisions of agents are there, and which of them executions need. */
const agentCollection = ({ kube, revisions, executions }: AgentRevisions): CollectDeps => ({
  kube,
  resource: agents,
  revisions,
  revisionsOfKey: (key) => revisions.byIndex('agentKey', key),
  ...neededRevisions({
    kube,
    resource: agentExecutions,
    executions,
    definition: 'agent',
    revisionOf: agentRevisionKey,
    definitionOf: ({ spec }) => spec.agent,
    isUnseen: ({ status }) => status?.agent === undefined,
  }),
});

interface AgentDeps extends AgentRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly agents: KnownAgents & Pick<CacheReader<Agent>, 'remember'>;
  readonly wholeAgent: (agent: Agent) => Promise<Agent | undefined>;
  readonly wholeRevision: (revision: ControllerRevision) => Promise<ControllerRevision | undefined>;
  /** Whether a namespace is being deleted: Kubernetes clears it by itself. */
  readonly isEnding: (namespace: string) => boolean;
  /** For warnings alone: another one starts this process anew. */
  readonly nodeConfig: NodeConfig;
  /** Gives the check of each definition a turn of the event loop of its own. */
  readonly turns: TurnGate;
}

/**
 * Judges an agent as workflows are judged, and deletes revisions that nothing needs any more (design §4). A model
 * alias that is not defined is a warning alone: an operator may define it later.
 */
export function createAgentReconcile(deps: AgentDeps): (key: string) => Promise<void> {
  const collection = agentCollection(deps);
  const judging = {
    ...deps,
    resource: agents,
    cache: deps.agents,
    collection,
    refusals: createLastingRefusals(deps.clock),
    revisionsOfUid: (key: string) => deps.revisions.byIndex('agentUid', key),
    problemsOf: async (agent: Agent) => [...problemsOf(agent), ...agentWarnings(deps, agent)],
    ownStatus: ({ spec }: Agent) => ({ model: modelAliasOf(spec) }),
  };
  return async (key) => {
    if (deps.isEnding(refOfKey(key).namespace ?? '')) return;
    const cached = deps.agents.get(key);
    await collectRevisions(collection, key, cached?.metadata.uid);
    const agent = cached && (await deps.wholeAgent(cached));
    if (agent !== undefined && agent.metadata.deletionTimestamp === undefined) await judge(judging, agent);
  };
}

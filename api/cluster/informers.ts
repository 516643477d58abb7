import type { Agent } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { isWholeAgent, slimAgent } from '../../lib/agent/slim-agent.ts';
import { slimAgentExecution } from '../../lib/agent/slim-agent-execution.ts';
import {
  isWholeWorkflow,
  type ListedWorkflow,
  listedWorkflow,
  workflowIndexes,
} from '../../lib/workflow-lookup/index.ts';
import { answeredIdOf, approvalIdOf } from '../../lib/decision/approval-id.ts';
import { unansweredAsk } from '../../lib/decision/open-ask.ts';
import { isWholeEdgeGroup, slimEdgeGroup } from '../../lib/edge/slim-edge-group.ts';
import { slimEdgeHost } from '../../lib/edge/slim-edge-host.ts';
import { slimFleetRun } from '../../lib/fleet/slim-fleet-run.ts';
import { AppError } from '../../lib/errors.ts';
import { listedExecution } from '../../lib/execution/listed-execution.ts';
import {
  createInformer,
  createWholeObjects,
  type Informer,
  type InformerChange,
  type ReflectorDeps,
  stripStrangers,
  type WholeOptions,
} from '../../lib/informer/index.ts';
import {
  agentExecutions,
  agents,
  edgeGroups,
  edgeHosts,
  fleetRuns,
  stimulusRouters,
  toolCalls,
  workflowExecutions,
  workflows,
} from '../../lib/kinds.ts';
import type { KubeClient, KubeObject, Namespace } from '../../lib/kube/index.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { sourceKeysOf } from '../../lib/stimulus/source-claims.ts';
import { slimToolCall } from '../../lib/tools/slim-tool-call.ts';
import { createTenantInformer, type TenantIndex } from '../../lib/tenant/tenant-directory.ts';
import type { ExecutionListener } from './execution-feed.ts';
import { familyOf } from './lineages.ts';

/** One cache for each kind that the API reads. */
export interface Informers {
  readonly workflows: Informer<ListedWorkflow, 'name' | 'formerId' | 'namespace'>;
  /**
   * `approval`: id of what a person is asked, or has answered last; `asking`: the namespace, where one is asked;
   * `family`: uid of the first execution above one that is under way.
   */
  readonly executions: Informer<WorkflowExecution, 'namespace' | 'approval' | 'asking' | 'family'>;
  readonly tenants: Informer<Namespace, TenantIndex>;
  readonly routers: Informer<StimulusRouter, 'namespace' | 'source'>;
  readonly agents: Informer<Agent, 'namespace'>;
  /**
   * `ask`: id of the tool call that waits for a person, or was answered last; `asking`: the namespace, where one waits;
   * `family`: as for executions.
   */
  readonly agentExecutions: Informer<AgentExecution, 'namespace' | 'ask' | 'asking' | 'family' | 'pod'>;
  /** Without their arguments and answers. */
  readonly toolCalls: Informer<ToolCall, never>;
  readonly edgeHosts: Informer<EdgeHost, 'namespace'>;
  readonly edgeGroups: Informer<EdgeGroup, 'namespace'>;
  readonly fleetRuns: Informer<FleetRun, 'namespace'>;
}

/** Bytes of heap for objects read last, in full. */
const keptBytes = {
  executions: bytesOf('whole executions'),
  workflows: bytesOf('whole workflows'),
  agents: bytesOf('whole agents'),
  agentExecutions: bytesOf('whole agent executions'),
  edgeHosts: bytesOf('whole edge hosts'),
  edgeGroups: bytesOf('whole edge groups'),
  fleetRuns: bytesOf('whole fleet runs'),
} as const;

/** `deps` gives each kind its own observer; `executions` receives every execution before anything is left out. */
export function createInformers(
  deps: (kind: string) => ReflectorDeps,
  kube: Pick<KubeClient, 'get'>,
  executions: ExecutionListener,
): Informers {
  const executionDeps = deps('WorkflowExecution');
  const informers: Informers = {
    workflows: workflowInformer(deps('Workflow'), kube),
    executions: createInformer(executionDeps, {
      resource: workflowExecutions,
      parse: (execution) => {
        executions.seen(withSpec(execution));
        return execution;
      },
      wholes: createWholeObjects({
        kube,
        clock: executionDeps.clock,
        resource: workflowExecutions,
        slim: listedExecution,
        keptBytes: keptBytes.executions,
      }),
      indexes: {
        namespace: namespaceOf,
        approval: (execution) => idsOf(approvalIdOf(execution), answeredIdOf(execution)),
        asking: (execution) => (approvalIdOf(execution) === undefined ? [] : namespaceOf(execution)),
        family: familyOf,
      },
    }),
    tenants: createTenantInformer(deps('Namespace')),
    routers: routerInformer(deps('StimulusRouter')),
    agents: agentInformer(deps('Agent'), kube),
    agentExecutions: agentExecutionInformer(deps('AgentExecution'), kube),
    toolCalls: toolCallInformer(deps('ToolCall')),
    ...edgeInformers(deps, kube),
  };
  informers.executions.onChange((change) => tellGone(change, executions));
  return informers;
}

/** Large definitions are not kept: each byte of one may take fifteen of heap. */
function workflowInformer(deps: ReflectorDeps, kube: Pick<KubeClient, 'get'>): Informers['workflows'] {
  return createInformer(deps, {
    resource: workflows,
    parse: withSpec,
    wholes: createWholeObjects<ListedWorkflow>({
      kube,
      clock: deps.clock,
      resource: workflows,
      slim: listedWorkflow,
      isWhole: isWholeWorkflow,
      keptBytes: keptBytes.workflows,
    }),
    indexes: workflowIndexes,
  });
}

function routerInformer(deps: ReflectorDeps): Informers['routers'] {
  return createInformer(deps, {
    resource: stimulusRouters,
    parse: withSpec,
    strip: stripStrangers,
    indexes: { namespace: namespaceOf, source: sourceKeysOf },
  });
}

function agentInformer(deps: ReflectorDeps, kube: Pick<KubeClient, 'get'>): Informers['agents'] {
  return createInformer(deps, {
    resource: agents,
    parse: withSpec,
    wholes: createWholeObjects({
      kube,
      clock: deps.clock,
      resource: agents,
      slim: slimAgent,
      isWhole: isWholeAgent,
      keptBytes: keptBytes.agents,
    }),
    indexes: { namespace: namespaceOf },
  });
}

function agentExecutionInformer(deps: ReflectorDeps, kube: Pick<KubeClient, 'get'>): Informers['agentExecutions'] {
  return createInformer(deps, {
    resource: agentExecutions,
    parse: withSpec,
    wholes: createWholeObjects({
      kube,
      clock: deps.clock,
      resource: agentExecutions,
      slim: slimAgentExecution,
      keptBytes: keptBytes.agentExecutions,
    }),
    indexes: {
      namespace: namespaceOf,
      ask: ({ spec }) => idsOf(spec.ask?.id, spec.signals?.at(-1)?.id),
      asking: (execution) => (unansweredAsk(execution) === undefined ? [] : namespaceOf(execution)),
      family: familyOf,
      pod: ({ status }) => idsOf(status?.pod?.uid),
    },
  });
}

/** A replica that claims a call is given the whole of it with its claim. */
function toolCallInformer(deps: ReflectorDeps): Informers['toolCalls'] {
  return createInformer(deps, {
    resource: toolCalls,
    parse: withSpec,
    strip: slimToolCall,
    indexes: {},
  });
}

/** Hosts and runs are kept without what only the view of a single one shows, and large groups with their names alone. */
function edgeInformers(
  deps: (kind: string) => ReflectorDeps,
  kube: Pick<KubeClient, 'get'>,
): Pick<Informers, 'edgeHosts' | 'edgeGroups' | 'fleetRuns'> {
  const open = <T extends EdgeHost | EdgeGroup | FleetRun>(kept: Omit<WholeOptions<T>, 'kube' | 'clock'>) => {
    const own = deps(kept.resource.kind);
    return createInformer(own, {
      resource: kept.resource,
      parse: withSpec,
      wholes: createWholeObjects({ ...kept, kube, clock: own.clock }),
      indexes: { namespace: namespaceOf },
    });
  };
  const groups = { slim: slimEdgeGroup, isWhole: isWholeEdgeGroup, keptBytes: keptBytes.edgeGroups };
  return {
    edgeHosts: open({ resource: edgeHosts, slim: slimEdgeHost, keptBytes: keptBytes.edgeHosts }),
    edgeGroups: open({ resource: edgeGroups, ...groups }),
    fleetRuns: open({ resource: fleetRuns, slim: slimFleetRun, keptBytes: keptBytes.fleetRuns }),
  };
}

/** An object that became unreadable is still there; another one under the same name is not the same. */
function tellGone({ before, after, invalid }: InformerChange<WorkflowExecution>, listener: ExecutionListener): void {
  const uid = before?.metadata.uid;
  if (uid !== undefined && after?.metadata.uid !== uid && invalid === undefined) listener.gone(uid);
}

const idsOf = (...ids: readonly (string | undefined)[]): string[] => ids.filter((id) => id !== undefined);
const namespaceOf = ({ metadata }: KubeObject): string[] => idsOf(metadata.namespace);

/** An object that got past the API server without a spec cannot be worked with. */
function withSpec<T extends KubeObject & { readonly spec: object }>(object: T): T {
  if (typeof object.spec !== 'object' || object.spec === null) throw new AppError('invalid', 'the object has no spec');
  return object;
}

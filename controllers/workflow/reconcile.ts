import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  cachedWorkflow,
  isWholeWorkflow,
  knownNames,
  workflowUser,
  type WorkflowCache,
} from '../../lib/workflow-lookup/index.ts';
import type { KnownAgents } from '../../lib/agent/find-agent.ts';
import { checkNamed } from '../../lib/definition/check-named.ts';
import { checkDefinition, type Problem } from '../../lib/definition/check.ts';
import { checkChildren, type FindSpec } from '../../lib/definition/check-children.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { workflowExecutions, workflows } from '../../lib/kinds.ts';
import {
  type ControllerRevision,
  createLastingRefusals,
  keyOf,
  type KubeClient,
  refOfKey,
} from '../../lib/kube/index.ts';
import { collectRevisions, type CollectDeps } from '../definition/collect-revisions.ts';
import { judge } from '../definition/judge.ts';
import { revisionKey } from '../execution/informer.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { neededRevisions } from '../definition/runs-of.ts';

interface WorkflowDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'create' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly workflows: WorkflowCache;
  readonly agents: KnownAgents;
  readonly wholeWorkflow: (workflow: Workflow) => Promise<Workflow | undefined>;
  readonly wholeRevision: (revision: ControllerRevision) => Promise<ControllerRevision | undefined>;
  /** Revisions by the `namespace/uid` of their workflow, and by its `namespace/name`. */
  readonly revisions: CacheReader<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the workflow they name. */
  readonly executions: CacheReader<WorkflowExecution, 'revision' | 'workflow'>;
  /** Whether a namespace is being deleted: Kubernetes clears it by itself. */
  readonly isEnding: (namespace: string) => boolean;
  /** Gives the check of each definition, and the look at each child, a turn of the event loop of its own. */
  readonly turns: TurnGate;
}

/** Judges a workflow, and deletes revisions that nothing needs any more (design §4). */
export function createWorkflowReconcile(deps: WorkflowDeps): (key: string) => Promise<void> {
  const collection = workflowCollection(deps);
  const judging = {
    ...deps,
    resource: workflows,
    cache: deps.workflows,
    collection,
    refusals: createLastingRefusals(deps.clock),
    revisionsOfUid: (key: string) => deps.revisions.byIndex('workflowUid', key),
    problemsOf: (workflow: Workflow) => problemsOf(deps, workflow),
  };
  return async (key) => {
    if (deps.isEnding(refOfKey(key).namespace ?? '')) return;
    const cached = deps.workflows.get(key);
    await collectRevisions(collection, key, cached?.metadata.uid);
    const workflow = cached && (await deps.wholeWorkflow(cached));
    if (workflow !== undefined && workflow.metadata.deletionTimestamp === undefined) await judge(judging, workflow);
  };
}

/** The children that it names are those that are known now. */
async function problemsOf(deps: WorkflowDeps, workflow: Workflow): Promise<readonly Problem[]> {
  const { metadata, spec } = workflow;
  const found = checkDefinition(spec);
  if (found.some(({ severity }) => severity === 'error')) return found;
  const user = workflowUser({ metadata });
  const place = { namespace: metadata.namespace ?? '', ...(user === undefined ? {} : { user }) };
  const find: FindSpec = async (nameOrUid) => {
    await deps.turns.enter(place.namespace);
    const child = cachedWorkflow(deps.workflows, { ...place, nameOrUid });
    return child && (await deps.wholeWorkflow(child))?.spec;
  };
  // Nothing wakes a large definition when a name of it appears: its warning would outlive its cause.
  const isWoken = isWholeWorkflow(deps.workflows.get(keyOf(workflow)) ?? workflow);
  const missing = isWoken ? checkNamed(spec, knownNames(deps, workflow)) : [];
  return [...found, ...(await checkChildren(spec, find)), ...missing];
}

interface WorkflowRevisions {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'delete'>;
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
  ...neededRevisions({
    kube,
    resource: workflowExecutions,
    executions,
    definition: 'workflow',
    revisionOf: revisionKey,
    definitionOf: ({ spec }) => spec.workflow,
    isUnseen: ({ status }) => status?.workflow === undefined,
  }),
});

import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { executionName } from '../../lib/stimulus/execution-fields.ts';
import { routerOfSource } from '../../lib/stimulus/source-claims.ts';
import { workflowSource } from '../../lib/stimulus/workflow-source.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { finished } from '../../lib/execution/finished.ts';
import type { PinnedDefinition, EndRoute, Facts, LinkedFact } from './engine/facts.ts';
import type { MadeChildren } from './made-children.ts';

/** The kept part of an execution whose name another owner has. */
export const takenUid = '';

interface LinkedDeps {
  readonly executions: Pick<CacheReader<WorkflowExecution>, 'get'>;
  /** Executions that this process has started, by the uid of the one whose end started them. */
  readonly linkedExecutions: Pick<MadeChildren, 'of'>;
}

/** Whether the stimulus of an ended execution has yet to become an execution, or has failed to. */
export const isEndPending = ({ status }: WorkflowExecution): boolean =>
  status?.stimulus !== undefined && status.stimulus.execution === undefined && status.stimulus.reason === undefined;

/** The execution that the end of this one started, as far as this process knows. */
export function observeLinked(
  { executions, linkedExecutions }: LinkedDeps,
  execution: WorkflowExecution,
): Pick<Facts, 'linked' | 'taken'> {
  const { metadata, status } = execution;
  if (status?.stimulus === undefined) return {};
  const { id } = status.stimulus;
  const name = executionName(id);
  const cached = executions.get(`${metadata.namespace}/${name}`);
  if (cached?.metadata.labels?.[labels.stimulus] === id) return { linked: linkedFact(cached) };
  if (!isEndPending(execution)) return {};
  // One that is gone again before the watch has shown it would be made a second time.
  const uid = linkedExecutions.of(metadata.uid ?? '').get(name);
  if (uid === undefined) return {};
  return uid === takenUid ? { taken: name } : { linked: { name, uid } };
}

const linkedFact = ({ metadata: { name, uid = '', ...metadata } }: WorkflowExecution): LinkedFact => ({
  name,
  uid,
  workflowUid: metadata.labels?.[labels.workflowUid],
  createdAt: metadata.creationTimestamp,
});

/** Whether the origin has yet to write down which execution its end started: without that it would start it again. */
export function isAwaitedByOrigin({ metadata }: WorkflowExecution, origin: WorkflowExecution | undefined): boolean {
  if (origin === undefined || !finished(origin) || !isEndPending(origin)) return false;
  return origin.status?.stimulus?.id === metadata.labels?.[labels.stimulus];
}

/** Finds the route for executions of a workflow that end. */
export type EndRoutes = (namespace: string, definition: PinnedDefinition) => EndRoute | undefined;

interface RouteDeps {
  readonly routers: Pick<CacheReader<StimulusRouter, 'ended'>, 'byIndex'>;
  readonly isTenant: (namespace: string) => boolean;
}

/** A workflow that a user keeps for themselves ends unheard: the tenant's routes are not for it. */
export function createEndRoutes({ routers, isTenant }: RouteDeps): EndRoutes {
  return (namespace, { name, user }) => {
    const source = workflowSource(name);
    const candidates = user === undefined ? routers.byIndex('ended', `${namespace}/${source}`) : [];
    const workflow = candidates.length === 0 ? undefined : routerOfSource(source, candidates)?.spec.routes?.[source];
    return workflow === undefined || !isTenant(namespace) ? undefined : { source, workflow };
  };
}

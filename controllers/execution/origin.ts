import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { Caches } from './observe.ts';

interface OriginDeps {
  readonly caches: Pick<Caches, 'executions'>;
  readonly wholes: Pick<Informer<WorkflowExecution>, 'whole'>;
}

/**
 * The execution that this one runs again, whole. Undefined where it names none, or none of its own namespace, and once it
 * has begun: its own status then holds what was taken over.
 */
export async function originOf(
  { caches, wholes }: OriginDeps,
  { metadata, spec, status }: WorkflowExecution,
): Promise<WorkflowExecution | undefined> {
  if (spec.origin === undefined || status?.current !== undefined || status?.finished_at !== undefined) return undefined;
  const cached = caches.executions.getByUid(spec.origin.uid);
  return cached?.metadata.namespace === metadata.namespace ? cached && wholes.whole(cached) : undefined;
}

/** The execution as it looks with the definition that its origin ran, where it has none of its own yet. */
export function withPin(execution: WorkflowExecution, origin: WorkflowExecution | undefined): WorkflowExecution {
  const workflow = origin?.status?.workflow;
  if (workflow === undefined || execution.status?.workflow !== undefined) return execution;
  return { ...execution, status: { phase: 'pending', ...execution.status, workflow } };
}

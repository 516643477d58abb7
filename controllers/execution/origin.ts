import { annotations } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { Informer } from '../../lib/informer/index.ts';

interface OriginDeps {
  readonly caches: { readonly executions: Pick<CacheReader<WorkflowExecution>, 'getByUid'> };
  readonly wholes: Pick<Informer<WorkflowExecution>, 'whole'>;
}

/**
 * The execution that this one runs again, whole. Undefined where it names none, or none of its own namespace by both name and uid, and
 * once it has begun: its own status then holds what was taken over.
 */
export async function originOf(
  { caches, wholes }: OriginDeps,
  { metadata, spec, status }: WorkflowExecution,
): Promise<WorkflowExecution | undefined> {
  if (spec.origin === undefined || status?.current !== undefined || status?.finished_at !== undefined) return undefined;
  const { name, uid } = spec.origin;
  const cached = caches.executions.getByUid(uid);
  if (cached?.metadata.namespace !== metadata.namespace || cached?.metadata.name !== name) return undefined;
  return wholes.whole(cached);
}

/** The execution as it looks with the definition that its origin ran, where it has none of its own yet. */
export function withPin(execution: WorkflowExecution, origin: WorkflowExecution | undefined): WorkflowExecution {
  const workflow = origin?.status?.workflow;
  if (workflow === undefined || execution.status?.workflow !== undefined) return execution;
  return { ...execution, status: { phase: 'pending', ...execution.status, workflow } };
}

/** `namespace/name` of the execution that this one runs again. */
export function originKey({ metadata, spec: { origin } }: WorkflowExecution): string | undefined {
  return origin === undefined ? undefined : `${metadata.namespace}/${origin.name}`;
}

/** `namespace/name` of the execution whose end started this one; the name alone is a mark of our accounts. */
export function linkOriginKey({ metadata }: WorkflowExecution): string | undefined {
  const name = metadata.annotations?.[annotations.linkedFrom];
  return name === undefined ? undefined : `${metadata.namespace}/${name}`;
}

import type { Workflow } from '../../../crds/schema/workflow.ts';
import type { WorkflowScope } from '../../../lib/workflow-lookup/index.ts';
import type { Viewer, Workflows } from '../../cluster/index.ts';
import { notFound, unknownWorkflow } from '../not-found.ts';

interface Wanted {
  readonly nameOrUid: string;
  readonly scope?: WorkflowScope | undefined;
  /** Waits for room for a large definition, which the answer holds. */
  readonly reserve?: (bytes: number) => Promise<void>;
}

/** The workflow that the caller means by a name or id. @throws HttpError 404, the same for one of another tenant. */
export async function findWorkflow(
  workflows: Pick<Workflows, 'find'>,
  viewer: Viewer,
  { nameOrUid, scope, reserve }: Wanted,
): Promise<Workflow> {
  const found = await workflows.find(viewer, nameOrUid, scope, reserve);
  if (found === undefined) throw notFound(unknownWorkflow);
  return found;
}

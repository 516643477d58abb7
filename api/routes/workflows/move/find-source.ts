import type { Workflow } from '../../../../crds/schema/workflow.ts';
import { type WorkflowScope, scopeOf, scopes } from '../../../../lib/workflow-lookup/index.ts';
import { HttpError } from '../../../../lib/http/index.ts';
import type { Viewer, Workflows } from '../../../cluster/index.ts';
import { findWorkflow } from '../find-workflow.ts';

/** The workflow to move, and its destination. */
export interface Move {
  readonly direction: 'promote' | 'demote';
  readonly scope: WorkflowScope;
}

/**
 * The workflow that a name means in a move: the one of the nearest scope on the other side, else the one that is there
 * already. An id is unambiguous. @throws HttpError 404, and 409 for one beyond the destination.
 */
export async function findSource(
  workflows: Pick<Workflows, 'find'>,
  viewer: Viewer,
  { nameOrUid, direction, scope }: Move & { readonly nameOrUid: string },
): Promise<Workflow> {
  for (const candidate of [...sourcesOf({ direction, scope }), scope]) {
    const found = await workflows.find(viewer, nameOrUid, candidate);
    if (found !== undefined) return found;
  }
  const beyond = await findWorkflow(workflows, viewer, { nameOrUid });
  const message = `the workflow is in the scope ${scopeOf(beyond)}; ${opposite[direction]} it instead`;
  throw new HttpError({ code: 'conflict', message });
}

const opposite = { promote: 'demote', demote: 'promote' } as const;

/** Scopes from which a workflow can get there, the nearest first. */
function sourcesOf({ direction, scope }: Move): readonly WorkflowScope[] {
  const at = scopes.indexOf(scope);
  return direction === 'promote' ? scopes.slice(0, at).toReversed() : scopes.slice(at + 1);
}

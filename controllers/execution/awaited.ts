import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';

/**
 * Whether a parent is still in the state that made this child and has not written down that it saw it. Only the
 * parent's own status counts: any user may write what a child says of its parent.
 */
export function isAwaited({ spec }: WorkflowExecution, parent: WorkflowExecution | undefined): boolean {
  const reference = spec.parent;
  if (reference === undefined || parent?.metadata.uid !== reference.uid || finished(parent)) return false;
  const current = parent.status?.current;
  const isThere = current?.state === reference.state && current.visit === reference.visit;
  return isThere && current.child !== undefined && current.child.uid === undefined;
}

import { annotations } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';

/** How many are kept; what has moved more often is not found by the oldest ones any more. */
const kept = 50;

/** The uids that a workflow had in other scopes, the oldest first (docs/adr/0024). */
export function formerIdsOf({ metadata }: Pick<Workflow, 'metadata'>): readonly string[] {
  return metadata.annotations?.[annotations.formerIds]?.split(',') ?? [];
}

/** The annotation of a workflow that had these uids before, each once. */
export function formerIdsText(ids: readonly string[]): string {
  return [...new Set(ids)].slice(-kept).join(',');
}

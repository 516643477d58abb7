import { annotations } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';

/**
 * How many links of a chain of executions are behind this one, in which the end of one started the next (AMB-189); 0 for
 * one that anything else started. Only our accounts write the mark: where it says nothing that we write, the chain ends.
 */
export function linkDepth({ metadata }: WorkflowExecution): number {
  const written = metadata.annotations?.[annotations.linkDepth];
  if (written === undefined) return 0;
  const depth = /^\d{1,3}$/.test(written) ? Number(written) : limits.stimulusLinksMax;
  return Math.min(depth, limits.stimulusLinksMax);
}

/** A child is as far down the chain as its parent: a workflow that runs itself as a child must not begin it anew. */
export function inheritedLink(parent: WorkflowExecution): Record<string, string> {
  const depth = linkDepth(parent);
  return depth === 0 ? {} : { [annotations.linkDepth]: String(depth) };
}

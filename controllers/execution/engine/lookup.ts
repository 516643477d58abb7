import { type Draft, LackingFacts } from './draft.ts';
import type { WorkflowLookup } from './facts.ts';

/**
 * What a name or uid of a workflow stands for.
 * @throws LackingFacts where nobody has looked yet.
 */
export function lookUp(draft: Draft, workflow: string): WorkflowLookup {
  const lookup = draft.facts.workflows.get(workflow);
  if (lookup === undefined) throw new LackingFacts([{ kind: 'workflow', workflow }]);
  return lookup;
}

import { type Draft, LackingFacts } from './draft.ts';
import type { WorkflowLookup } from './facts.ts';

/**
 * The workflow of a name or uid.
 * @throws LackingFacts where it has not been looked up yet.
 */
export function lookUp(draft: Draft, workflow: string): WorkflowLookup {
  const lookup = draft.facts.workflows.get(workflow);
  if (lookup === undefined) throw new LackingFacts([{ kind: 'workflow', workflow }]);
  return lookup;
}

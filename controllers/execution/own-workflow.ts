import type { Definition, Facts, WorkflowLookup } from './facts.ts';

/** Key of the execution's own workflow in the facts. */
export const ownKey = 'own';

/** The definition that this execution runs, where it is known and accepted. */
export function own(facts: Facts): Definition | undefined {
  const lookup = ownLookup(facts);
  return lookup?.kind === 'found' ? lookup.definition : undefined;
}

/** What looking for the execution's workflow found. */
export const ownLookup = (facts: Facts): WorkflowLookup | undefined => facts.workflows.get(ownKey);

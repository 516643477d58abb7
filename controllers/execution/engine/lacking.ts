import { AppError } from '../../../lib/errors.ts';
import { type Draft, LackingFacts } from './draft.ts';
import type { WorkflowLookup } from './facts.ts';

/**
 * The error to throw where deciding needs stored values that are not loaded. It is the wish to load them or, where one
 * of them is lost, an AppError with the reason `OutputLost`, which fails whatever needs it.
 */
export function lackingValues({ facts }: Draft, locators: readonly string[]): LackingFacts | AppError {
  for (const locator of locators) {
    const problem = facts.unreadable?.get(locator);
    if (problem !== undefined) return new AppError('not_found', problem, { reason: 'OutputLost' });
  }
  return new LackingFacts(locators.map((locator) => ({ kind: 'blob', locator })));
}

/**
 * The workflow of a name or uid.
 * @throws LackingFacts where it has not been looked up yet.
 */
export function lookUp(draft: Draft, workflow: string): WorkflowLookup {
  const lookup = draft.facts.workflows.get(workflow);
  if (lookup === undefined) throw new LackingFacts([{ kind: 'workflow', workflow }]);
  return lookup;
}

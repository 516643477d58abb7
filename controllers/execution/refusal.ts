import type { Facts, Failure } from './facts.ts';

/**
 * The output store had no room for what a decision wanted to store (design §5). Decided again, the execution goes on
 * by one state only, so that those before the one that is too large are kept; where that is too much as well, this
 * state fails; and where nothing smaller helps, the execution does.
 */
export interface Refusal {
  readonly failure: Failure;
  readonly consequence: 'one_state' | 'state_fails' | 'execution_fails';
}

const consequences = ['one_state', 'state_fails', 'execution_fails'] as const;

/**
 * The facts after the store has refused what was decided on them, one consequence harder each time. Throws where not
 * even a failed execution fits, which takes a budget smaller than one execution's own description.
 */
export function refuse(facts: Facts, message: string): Facts {
  const last = facts.refused === undefined ? -1 : consequences.indexOf(facts.refused.consequence);
  const consequence = consequences[last + 1];
  if (consequence === undefined) throw new Error(message);
  return { ...facts, refused: { failure: { reason: 'OutputBudgetExceeded', message }, consequence } };
}

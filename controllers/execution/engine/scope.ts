import { executionScope } from '../../../lib/execution/execution-scope.ts';
import { render } from '../../../lib/template/render.ts';
import type { Scope } from '../../../lib/template/scope.ts';
import { prices } from '../../../lib/work/limits.ts';
import type { Draft } from './draft.ts';
import { lackingValues } from './lacking-values.ts';
import { warnOfPlaceholders } from './warn.ts';

/** What an outcome would add that is not written down yet. */
interface Ahead {
  readonly entry: unknown;
  readonly humanFeedback: unknown;
}

/**
 * Everything that templates and expressions of this execution may name, as of now in the draft (spec 1 §2.6); with
 * `ahead` as if the current state had ended so.
 */
export function scopeOf(draft: Draft, ahead?: Ahead): Scope {
  return executionScope(draft.facts.execution, draft.spec, {
    blackboard: ahead === undefined ? draft.blackboard() : boardAhead(draft, ahead),
    feedback: draft.feedback,
    humanFeedback: ahead?.humanFeedback ?? draft.humanFeedback,
  });
}

function boardAhead(draft: Draft, { entry }: Ahead): Readonly<Record<string, unknown>> {
  const board = Object.assign(Object.create(null) as Record<string, unknown>, draft.blackboard());
  draft.work.spend(Object.keys(board).length * prices.step);
  board[draft.status.state ?? ''] = entry;
  return board;
}

/**
 * Renders a template against the draft.
 * @throws LackingFacts when it uses stored values that are not loaded, AppError `OutputLost` when they are lost,
 * WorkBudgetExceeded when it is too much work for this turn.
 */
export function renderText(draft: Draft, source: string, scope: Scope = scopeOf(draft)): string {
  const result = render(source, scope, draft.facts.loaded, draft.work);
  if (result.kind === 'needs') throw lackingValues(draft, result.refs);
  warnOfPlaceholders(draft.status, result.missing);
  return result.text;
}

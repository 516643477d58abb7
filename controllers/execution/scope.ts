import { executionScope } from '../../lib/execution/execution-scope.ts';
import { templateLimits } from '../../lib/template/limits.ts';
import { render } from '../../lib/template/render.ts';
import type { Scope } from '../../lib/template/scope.ts';
import { Work } from '../../lib/template/work.ts';
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
  const board = draft.blackboard();
  const { state = '' } = draft.status;
  if (ahead !== undefined) Object.defineProperty(board, state, { value: ahead.entry, enumerable: true });
  const humanFeedback = ahead?.humanFeedback ?? draft.humanFeedback;
  return executionScope(draft.facts.execution, draft.spec, {
    blackboard: board,
    feedback: draft.feedback,
    humanFeedback,
  });
}

/**
 * Renders a template against the draft.
 * @throws LackingFacts when it uses stored values that are not loaded, AppError `OutputLost` when they are lost,
 * TemplateBudgetExceeded when it is too much work.
 */
export function renderText(draft: Draft, source: string, scope: Scope = scopeOf(draft)): string {
  const given = Math.min(draft.workLeft, templateLimits.work);
  const work = new Work(given);
  const result = render(source, scope, draft.facts.loaded, work);
  draft.spendWork(given, work.left);
  if (result.kind === 'needs') throw lackingValues(draft, result.refs);
  warnOfPlaceholders(draft.status, result.missing);
  return result.text;
}

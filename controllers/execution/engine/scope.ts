import { limits } from '../../../crds/limits.ts';
import { cutText } from '../../../lib/cut-text.ts';
import { executionScope } from '../../../lib/execution/execution-scope.ts';
import { render } from '../../../lib/template/render.ts';
import type { TemplateScope } from '../../../lib/template/scope.ts';
import { prices } from '../../../lib/work/limits.ts';
import type { Draft } from './draft.ts';
import { lackingValues } from './lacking.ts';

/** The parts of an outcome that are not written down yet. */
interface Ahead {
  readonly entry: unknown;
  readonly humanFeedback: unknown;
}

/**
 * Everything that templates and expressions of this execution may name, as of now in the draft (spec 1 §2.6); with
 * `ahead` as if the current state had ended so.
 */
export function templateScope(draft: Draft, ahead?: Ahead): TemplateScope {
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
export function renderText(draft: Draft, source: string, scope: TemplateScope = templateScope(draft)): string {
  const result = render(source, scope, draft.facts.loaded, draft.work);
  if (result.kind === 'needs') throw lackingValues(draft, result.refs);
  if (scope.placeholders) warnOfPlaceholders(draft, result.missing);
  return result.text;
}

/**
 * Names the paths that a template found without a value: it printed placeholders in their places (WF-TPL-31). The first
 * ones stay, for a template is rendered again and again, and some room is left for later warnings.
 */
function warnOfPlaceholders(draft: Draft, missing: readonly string[]): void {
  if (missing.length === 0) return;
  const { status } = draft;
  const where = status.state === undefined ? '' : `state ${status.state}: `;
  const room = limits.placeholderWarnings - (status.warnings?.length ?? 0);
  const lines = missing.map((path) => `${where}{{${path}}} had no value; a placeholder replaces it`);
  const known = new Set(status.warnings);
  const news = lines.map((text) => cutText(text, limits.warningLength)).filter((text) => !known.has(text));
  draft.warn(...news.slice(0, Math.max(0, room)));
}

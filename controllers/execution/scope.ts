import { templateLimits } from '../../lib/template/limits.ts';
import { render } from '../../lib/template/render.ts';
import { createScope, type Scope } from '../../lib/template/scope.ts';
import { Work } from '../../lib/template/work.ts';
import type { Draft } from './draft.ts';
import { lackingValues } from './lacking-values.ts';

/** Everything that templates and expressions of this execution may name, as of now in the draft (spec 1 §2.6). */
export function scopeOf(draft: Draft): Scope {
  const { execution } = draft.facts;
  const blackboard = draft.blackboard();
  const stateNames = Object.keys(draft.spec.states);
  const shared = draft.spec.storage?.shared_volumes ?? [];
  return createScope({
    ...(execution.spec.intent === undefined ? {} : { intent: execution.spec.intent }),
    input: execution.spec.input ?? {},
    workflow: {
      context: draft.spec.context ?? {},
      storage: {
        ...(draft.spec.storage?.workspace === undefined ? {} : { workspace: 'workspace' }),
        shared_volumes: Object.fromEntries(shared.map(({ name }) => [name, name])),
      },
    },
    blackboard,
    state: { feedback: draft.feedback ?? '' },
    human: draft.humanFeedback === undefined ? {} : { feedback: draft.humanFeedback },
    execution: { id: draft.executionUid },
    stateNames,
    completedStates: stateNames.filter((name) => Object.hasOwn(blackboard, name)),
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
  return result.text;
}

import type { StateOf } from '../../../crds/schema/state.ts';
import type { Signal } from '../../../crds/schema/workflow-execution.ts';
import type { CurrentState } from '../../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../../../lib/cut-text.ts';
import { firstSignal } from '../../../lib/decision/first-signal.ts';
import { stopping, timeoutFailure } from '../deadline.ts';
import type { Draft } from '../draft.ts';
import type { VisitOutcome } from '../outcome.ts';
import { renderText } from '../scope.ts';
import type { StateHandler } from '../state-handler.ts';

/** Who decided when nobody did. */
const timeoutSignalId = 'default-response';

/** Longest prompt that status shows whole, in characters. */
const promptLength = 8_192;

/** Waits for a signal in the execution's spec; holds no compute (spec 1 §2.6, kind Human). */
export const human: StateHandler<'Human'> = (draft, state, current) => {
  if (current.prompt === undefined) ask(draft, current, renderText(draft, state.prompt));
  const signal = firstSignal(draft.facts.execution.spec.signals, current);
  if (signal !== undefined) return answered(signal);
  if (!stopping(draft, current)) return undefined;
  if (state.default_response === undefined) return unanswered(current);
  return answered(defaultSignal(state, current, state.default_response));
};

/** Of a longer prompt status shows the beginning; the output store has the whole. */
function ask(draft: Draft, current: CurrentState, prompt: string): void {
  if (prompt.length <= promptLength) {
    current.prompt = prompt;
  } else {
    current.prompt = `${cutText(prompt, promptLength)}… (${prompt.length} characters)`;
    current.prompt_ref = draft.keepText(prompt);
  }
}

function answered({ id, by, at, response, feedback }: Signal): VisitOutcome {
  return {
    entry: { status: 'success', output: response, response, feedback: feedback ?? response, by, at },
    signal: { id, by, at, response },
    humanFeedback: feedback ?? response,
  };
}

function defaultSignal(state: StateOf<'Human'>, current: CurrentState, response: string): Signal {
  const at = current.deadline ?? current.entered_at;
  return { id: timeoutSignalId, state: current.state, response, by: `timeout:${state.timeout ?? ''}`, at };
}

/** requirements AMB-070: nobody answered and nothing stands in for an answer. */
function unanswered(current: CurrentState): VisitOutcome {
  return { entry: { status: 'failed', output: '' }, failure: timeoutFailure(current), fatal: true };
}

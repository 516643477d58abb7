import { limits } from '../../../crds/limits.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import type { Signal } from '../../../crds/schema/workflow-execution.ts';
import { cutText } from '../../../lib/cut-text.ts';
import { answerEntry, feedbackOf } from '../../../lib/decision/answer-entry.ts';
import { answersText, judge, namedAnswers } from '../../../lib/decision/answers.ts';
import { firstSignal } from '../../../lib/decision/first-signal.ts';
import { AppError } from '../../../lib/errors.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { firstMatch } from '../engine/first-match.ts';
import { stopping, timeoutFailure } from '../engine/deadline.ts';
import type { Draft } from '../engine/draft.ts';
import type { Failure } from '../engine/facts.ts';
import { lackingValues } from '../engine/lacking.ts';
import { type VisitOutcome, after, type StateHandler, type VisitUpdate } from '../engine/state-handler.ts';
import { type CurrentVisit, patched, unchanged, type VisitChange } from '../engine/reduce.ts';
import { renderText, templateScope } from '../engine/scope.ts';

/** Id of the signal that replaces an answer at the timeout. */
const timeoutSignalId = 'default-response';

/** Longest prompt that status shows whole, in characters. */
const promptLength = 8_192;

/** Longest response that a message quotes, in characters. */
const quotedLength = 64;

/**
 * Waits for a signal in the execution's spec that matches a rule; holds no compute (spec 1 §2.6, kind Human). A signal
 * that matches none changes nothing but the message (requirements AMB-170).
 */
export const human: StateHandler<'Human'> = (draft, state, current) => {
  const asked = current.prompt === undefined ? ask(draft, state) : unchanged;
  const decision = decided(draft, state, patched(current, asked));
  const change = { ...asked, ...decision.change };
  if (decision.kind === 'answered') return { outcome: decision.outcome };
  // An answer that came before the deadline still counts in the next turn.
  return decision.kind === 'later' ? { change } : after(change, withoutAnswer(draft, state, current));
};

/** No signal answers: the visit waits, or ends with its timeout, its default response, or because no answer can come. */
function withoutAnswer(draft: Draft, state: StateOf<'Human'>, current: CurrentVisit): VisitUpdate {
  if (!stopping(draft, current)) {
    return isDeadEnd(draft, state, current) ? unanswered(signalsFull(current)) : { change: unchanged };
  }
  if (state.default_response === undefined) return unanswered(timeoutFailure(current));
  const fallback = answered(defaultSignal(state, current, state.default_response));
  return leads(draft, state, fallback) ? { outcome: fallback } : unanswered(timeoutFailure(current));
}

/** The message of the execution while it waits; it names the last response that matched no rule. */
export function waitingText(draft: Draft, { state, signals_refused: refused = 0, answers = [] }: CurrentVisit): string {
  const waits = `state ${state} waits for a decision`;
  const signal = refused === 0 ? undefined : draft.facts.execution.spec.signals?.[refused - 1];
  return signal === undefined ? waits : `${waits}; ${refusedText(signal, answers)}`;
}

/** Status shows the beginning of a longer prompt; the output store has the whole. */
function ask(draft: Draft, state: StateOf<'Human'>): VisitChange {
  const prompt = renderText(draft, state.prompt);
  const named = namedAnswers(state.transitions);
  const answers = named.length > 0 ? { answers: named } : {};
  if (prompt.length <= promptLength) return { ...answers, prompt };
  return {
    ...answers,
    prompt: `${cutText(prompt, promptLength)}… (${prompt.length} characters)`,
    prompt_ref: draft.keepText(prompt),
  };
}

/** Where the signals lead: to an outcome, to the next turn, or nowhere. `change` marks those that were refused. */
type Decided =
  | { readonly kind: 'answered'; readonly outcome: VisitOutcome; readonly change?: undefined }
  | { readonly kind: 'later' | 'unanswered'; readonly change: VisitChange };

/** The outcome of the first signal that matches a rule; those before it are marked as refused, once and for good. */
function decided(draft: Draft, state: StateOf<'Human'>, asked: CurrentVisit): Decided {
  const { signals = [] } = draft.facts.execution.spec;
  let current = asked;
  for (let change: VisitChange = unchanged; ; current = patched(asked, change)) {
    const signal = firstSignal(signals, current);
    if (signal === undefined) return { kind: 'unanswered', change };
    if (draft.isTurnOver) {
      draft.wakeAt(draft.now);
      return { kind: 'later', change };
    }
    const outcome = answered(inVisit(signal, current, draft.now), signal.via === 'api' ? 'api' : 'kubernetes');
    if (leads(draft, state, outcome)) return { kind: 'answered', outcome };
    draft.hasProgress = true;
    change = { signals_refused: signals.indexOf(signal) + 1 };
    draft.recordEvent(
      'Warning',
      'UnmatchedResponse',
      `${current.state}: ${refusedText(signal, current.answers ?? [])}`,
    );
  }
}

/** Whether an answer leads on. An expression that cannot be evaluated on it matches nothing. */
function leads(
  draft: Draft,
  { transitions }: StateOf<'Human'>,
  { entry, signal, humanFeedback }: VisitOutcome,
): boolean {
  const { response = '' } = signal ?? {};
  const verdict = judge(transitions, response);
  if (verdict !== 'depends') return verdict === 'matches';
  const { loaded, refused } = draft.facts;
  const { work } = draft;
  const scope = templateScope(draft, { entry, humanFeedback });
  try {
    const choice = firstMatch(transitions, { kind: 'Human', failed: false, signal: response, scope, loaded, work });
    if (choice.kind === 'needs') throw lackingValues(draft, choice.refs);
    return choice.kind === 'rule';
  } catch (error) {
    // An evaluation that is too much after other work is tried again in a turn of its own.
    const isTired = error instanceof WorkBudgetExceeded && draft.hasProgress && refused === undefined;
    if (error instanceof AppError && !isTired) return false;
    throw error;
  }
}

function refusedText({ response, by }: Signal, answers: readonly string[]): string {
  return `the response '${cutText(response, quotedLength)}' of ${by} matches no rule; ${answersText(answers)}`;
}

function answered(signal: Signal, via?: 'api' | 'kubernetes'): VisitOutcome {
  const { id, by, at, response } = signal;
  const taken = { id, by, at, response, ...(via === undefined ? {} : { via }) };
  return { entry: answerEntry(signal), signal: taken, humanFeedback: feedbackOf(signal) };
}

/** A signal's time is its writer's to choose: one before the question or after now is brought back to these bounds. */
function inVisit(signal: Signal, { entered_at: asked }: CurrentVisit, now: number): Signal {
  const at = Math.min(Math.max(Date.parse(signal.at), Date.parse(asked)), now);
  return Date.parse(signal.at) === at ? signal : { ...signal, at: new Date(at).toISOString() };
}

function defaultSignal(state: StateOf<'Human'>, current: CurrentVisit, response: string): Signal {
  const at = current.deadline ?? current.entered_at;
  return { id: timeoutSignalId, state: current.state, response, by: `timeout:${state.timeout ?? ''}`, at };
}

/** requirements AMB-171: no answer came and no default replaces it; the rules for any outcome are tested. */
const unanswered = (failure: Failure): VisitUpdate => ({
  outcome: { entry: { status: 'failed', output: '' }, failure },
});

/** Signals are only ever appended: a full list takes no answer any more. A default_response may still come. */
const isDeadEnd = (draft: Draft, state: StateOf<'Human'>, current: CurrentVisit): boolean =>
  (draft.facts.execution.spec.signals?.length ?? 0) >= limits.signals &&
  (state.default_response === undefined || current.deadline === undefined);

const signalsFull = ({ state }: CurrentVisit): Failure => ({
  reason: 'SignalsFull',
  message: `spec.signals has ${limits.signals} entries, which is as many as it takes, and none answers state ${state}`,
});

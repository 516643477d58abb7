import type { AgentExecutionReason } from '../../crds/conditions.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentResult } from '../../crds/schema/agent-execution.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';
import { defined } from '../defined.ts';
import type { ModelToolCall } from '../models/models.ts';
import { answerFacts, schemaProblem } from './answer.ts';
import { type Budget, remaining, usedUp } from './budget.ts';
import { conversationLimits } from './limits.ts';
import type { ConversationState } from './state.ts';

/** The next effects. Each effect ends in at least one record, so that the next decision sees it. */
export type Effect =
  | { readonly kind: 'start' }
  | {
      readonly kind: 'begin_iteration';
      readonly iteration: number;
      readonly action: string;
      readonly feedback?: string;
    }
  /** `budget` bounds the question together with its answer. */
  | { readonly kind: 'ask_model'; readonly iteration: number; readonly budget: Budget }
  /** `refusal`: the call may not run, and the model gets these words. `budget` bounds its judge. */
  | {
      readonly kind: 'call_tool';
      readonly call: ModelToolCall;
      readonly refusal?: string;
      readonly budget?: Budget;
    }
  | {
      readonly kind: 'judge_answer';
      readonly iteration: number;
      readonly answer: string;
      readonly budget: Budget;
    }
  | {
      readonly kind: 'complete_iteration';
      readonly iteration: number;
      readonly output: string;
      readonly accepted: boolean;
      readonly score?: number;
      readonly feedback?: string;
    }
  | { readonly kind: 'end'; readonly result: Omit<AgentResult, 'at'> }
  | { readonly kind: 'none' };

/** Bounds of spec.execution, with their defaults. */
const iterationsDefault = 10;
const toolCallsDefault = 100;
/** Questions beyond those that the bounds of the agent account for. */
const spareQuestions = 10;

/**
 * The next step of a conversation (design §12). Pure: the same records give the same step, on whichever replica. Iterations
 * are answers of the agent; one that is refused is followed by another with the judge's words, up to `max_iterations`.
 */
export function next(state: ConversationState, spec: AgentSpec, security: SecurityContextSpec = {}): Effect {
  if (state.result !== undefined) return { kind: 'none' };
  if (state.started === undefined) return { kind: 'start' };
  if (state.bytes > conversationLimits.heldBytes) {
    const megabytes = conversationLimits.heldBytes / 1_048_576;
    return failed(state, 'ConversationTooLarge', `the conversation holds more than ${megabytes} MiB of text`);
  }
  if (state.isIterationOver) return betweenIterations(state, spec);
  const [call] = state.calls;
  if (call !== undefined) return callTool(state, call, spec, mostCalls(spec, security));
  if (state.answer !== undefined) return withAnswer(state, spec, state.answer);
  return askModel(state, spec, mostQuestions(state, spec, security));
}

function betweenIterations(state: ConversationState, spec: AgentSpec): Effect {
  const { completed, iteration } = state;
  if (completed === undefined) return { kind: 'begin_iteration', iteration: 1, action: 'generate' };
  if (completed.accepted) return { kind: 'end', result: accepted(state, completed.output, completed.score) };
  const most = mostIterations(spec);
  if (iteration >= most) {
    const message = `none of ${most} answers was accepted (max_iterations); the last one${scoreOf(completed, spec)}: ${completed.feedback ?? 'no reason given'}`;
    return { kind: 'end', result: { ...failure(state, 'NotAccepted', message), ...lastAnswer(completed) } };
  }
  const feedback = `The answer was not accepted. ${completed.feedback ?? ''}\nAnswer again, in full.`;
  return { kind: 'begin_iteration', iteration: iteration + 1, action: 'refine', feedback };
}

/** An answer that breaks `output_schema` is judged by no score. */
function scoreOf({ score }: { readonly score?: number }, { execution }: AgentSpec): string {
  const threshold = execution?.validation?.threshold;
  if (score === undefined || threshold === undefined || score >= threshold) return '';
  return ` has the score ${score}, below the validation.threshold ${threshold}`;
}

const lastAnswer = ({ output, score }: { readonly output: string; readonly score?: number }) =>
  defined({ output, score });

const mostCalls = ({ execution }: AgentSpec, { max_calls: most }: SecurityContextSpec): number =>
  Math.min(execution?.max_tool_calls ?? toolCallsDefault, most ?? Number.POSITIVE_INFINITY);

const mostIterations = ({ execution }: AgentSpec): number => execution?.max_iterations ?? iterationsDefault;

/**
 * A call that is refused counts to no bound of the agent, and costs a question. So there are as many questions for refused calls as
 * for those that run and for answers. A saying of the pod makes one more.
 */
const mostQuestions = ({ podSaid }: ConversationState, spec: AgentSpec, security: SecurityContextSpec): number =>
  2 * (mostIterations(spec) + mostCalls(spec, security)) + spareQuestions + podSaid.size;

function callTool(state: ConversationState, call: ModelToolCall, spec: AgentSpec, most: number): Effect {
  const isNew = state.underWay?.call_id !== call.id;
  if (isNew && state.toolCalls >= most) {
    return {
      kind: 'call_tool',
      call,
      refusal: `ToolCallsExceeded: ${most} tool calls are the most; answer without tools`,
    };
  }
  const isJudged = !isNew || state.verdicts.has(call.id);
  return isJudged || !asksJudge(spec) ? { kind: 'call_tool', call } : judgedCall(state, call, spec);
}

const asksJudge = ({ execution }: AgentSpec): boolean => execution?.tool_validation?.enabled === true;

function judgedCall(state: ConversationState, call: ModelToolCall, spec: AgentSpec): Effect {
  return withinBudget(state, spec, (budget) => ({ kind: 'call_tool', call, budget }));
}

function withAnswer(state: ConversationState, spec: AgentSpec, answer: { text: string; isCut: boolean }): Effect {
  const { iteration, judged } = state;
  const refuse = (feedback: string, score?: number): Effect => ({
    kind: 'complete_iteration',
    iteration,
    output: answer.text,
    accepted: false,
    feedback: feedback.slice(0, conversationLimits.feedbackLength),
    ...scored(score),
  });
  if (answer.isCut || Buffer.byteLength(answer.text) > conversationLimits.outputBytes)
    return refuse('It was longer than an answer may be, and was cut; be shorter.');
  const problem = schemaProblem(spec.output_schema, answer.text);
  if (problem !== undefined) return refuse(problem);
  const validation = spec.execution?.validation;
  if (validation === undefined) {
    const { score } = answerFacts(answer.text);
    return { kind: 'complete_iteration', iteration, output: answer.text, accepted: true, ...scored(score) };
  }
  if (judged === undefined) return judgeAnswer(state, spec, answer.text);
  if (judged.score < validation.threshold) return refuse(judged.feedback, judged.score);
  return { kind: 'complete_iteration', iteration, output: answer.text, accepted: true, score: judged.score };
}

function judgeAnswer(state: ConversationState, spec: AgentSpec, answer: string): Effect {
  const { iteration } = state;
  return withinBudget(state, spec, (budget) => ({ kind: 'judge_answer', iteration, answer, budget }));
}

const scored = (score: number | undefined) => (score === undefined ? {} : { score });

function askModel(state: ConversationState, spec: AgentSpec, most: number): Effect {
  const { iteration, modelCalls, isModelAsked } = state;
  if (!isModelAsked && modelCalls >= most) {
    const message = `the model was asked ${most} times, the most by max_iterations and max_tool_calls, and ${state.toolCalls} tool calls ran; look in the conversation for those that were refused`;
    return failed(state, 'QuestionsExceeded', message);
  }
  return withinBudget(state, spec, (budget) => ({ kind: 'ask_model', iteration, budget }));
}

/** A model is asked, as the agent or as a judge, only while something is left of each bound. */
function withinBudget(state: ConversationState, { execution }: AgentSpec, ask: (budget: Budget) => Effect): Effect {
  const budget = remaining(state, execution);
  const problem = usedUp(budget, execution);
  return problem === undefined ? ask(budget) : failed(state, 'BudgetExceeded', problem);
}

const failed = (state: ConversationState, reason: AgentExecutionReason, message: string): Effect => ({
  kind: 'end',
  result: failure(state, reason, message),
});

/** A result that says why the execution failed. */
export function failure(
  state: ConversationState,
  reason: AgentExecutionReason,
  message: string,
): Omit<AgentResult, 'at'> {
  return { phase: 'failed', reason, message: message.slice(0, messageMax), ...numbers(state) };
}

const messageMax = 2_000;

function accepted(state: ConversationState, output: string, score: number | undefined): Omit<AgentResult, 'at'> {
  const { confidence } = answerFacts(output);
  return defined({ phase: 'completed' as const, output, score, confidence, ...numbers(state) });
}

function numbers(state: ConversationState) {
  return defined({
    iterations: state.iteration,
    tool_calls: state.toolCalls,
    input_tokens: state.inputTokens,
    output_tokens: state.outputTokens,
    cost_usd: state.costUsd,
    provider: state.provider,
    model: state.model,
  });
}

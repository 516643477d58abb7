import type { AgentSpec } from '../../crds/schema/agent.ts';
import { defined } from '../defined.ts';
import { AppError } from '../errors.ts';
import type { ModelLimits } from '../models/models.ts';
import { conversationLimits } from './limits.ts';
import type { ConversationState } from './state.ts';

/** The rest of an execution's bounds. A field is absent where the agent has no such bound. */
export interface Budget {
  /** Tokens, input and output. */
  readonly tokens?: number;
  readonly costUsd?: number;
}

const budgetExceeded = (message: string): AppError =>
  new AppError('limit_exceeded', message, { reason: 'BudgetExceeded' });

/** The rest of each bound; `usedUp` names the bounds that have none. */
export const remaining = (state: ConversationState, { max_tokens, max_cost_usd }: Bounds = {}): Budget =>
  defined({
    tokens: max_tokens === undefined ? undefined : max_tokens - state.inputTokens - state.outputTokens,
    costUsd: max_cost_usd === undefined ? undefined : max_cost_usd - (state.costUsd ?? 0),
  });

/** The bound of which nothing is left, in a sentence. */
export function usedUp({ tokens, costUsd }: Budget, { max_tokens, max_cost_usd }: Bounds = {}): string | undefined {
  if (costUsd !== undefined && costUsd <= 0) return `max_cost_usd of ${max_cost_usd} is used up`;
  return tokens !== undefined && tokens < 1 ? `max_tokens of ${max_tokens} is used up` : undefined;
}

type Bounds = NonNullable<AgentSpec['execution']>;

interface Question {
  /** Text units of everything that the model reads, definitions of tools included. */
  readonly units: number;
  readonly alias: string;
  /** Those of the alias; absent where it is not known. */
  readonly limits: ModelLimits | undefined;
}

/** A part of a token that sums of prices may lose. */
const tolerance = 1e-6;

/**
 * Most tokens of the answer to a question, so that both together stay within the budget; undefined where nothing bounds it.
 * @throws AppError `BudgetExceeded`; `PriceUnknown` where a cost is bounded and the answer may come from a model without a price.
 */
export function answerBound(budget: Budget, question: Question): number | undefined {
  const input = Math.ceil(question.units / conversationLimits.unitsPerToken);
  const bounds = [
    ...(budget.tokens === undefined ? [] : [withinTokens(budget.tokens, input)]),
    ...(budget.costUsd === undefined ? [] : [withinCost(budget.costUsd, input, question)]),
  ];
  const most = Math.min(...bounds);
  return Number.isFinite(most) ? most : undefined;
}

function withinTokens(tokens: number, input: number): number {
  const left = tokens - input;
  if (left >= 1) return left;
  throw budgetExceeded(`max_tokens is used up but for ${tokens} of them; the next question has about ${input}`);
}

function withinCost(costUsd: number, input: number, { alias, limits }: Question): number {
  if (limits?.unpriced !== undefined) throw priceUnknown(alias, limits.unpriced);
  if (limits?.price === undefined) return Number.POSITIVE_INFINITY;
  const { input_per_million: perInput, output_per_million: perOutput } = limits.price;
  const left = costUsd * 1_000_000 - input * perInput;
  if (left >= 0 && perOutput === 0) return Number.POSITIVE_INFINITY;
  const tokens = Math.floor(left / perOutput + tolerance);
  if (tokens >= 1) return tokens;
  const rest = Number(costUsd.toPrecision(3));
  throw budgetExceeded(`max_cost_usd is used up but for ${rest} USD; the next question has about ${input} tokens`);
}

/** Why a cost bounds nothing, and how to mend it. */
export const withoutPrice = (alias: string, model: string): string =>
  `max_cost_usd bounds nothing: the node configuration has no price of the model ${model} (alias ${alias}). ` +
  'Add it to spec.prices, with 0 where it costs nothing, or bound the execution by max_tokens';

const priceUnknown = (alias: string, model: string): AppError =>
  new AppError('invalid', withoutPrice(alias, model), { reason: 'PriceUnknown' });

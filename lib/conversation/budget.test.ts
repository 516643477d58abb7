import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import type { ModelLimits } from '../models/models.ts';
import { answerBound, type Budget, remaining, usedUp } from './budget.ts';
import { emptyState } from './state.ts';

const price = { input_per_million: 2, output_per_million: 10 };

/** The bound of an answer to a question of 100 tokens, or why there is none. */
function bound(budget: Budget, limits: Partial<ModelLimits> | null = { price }): number | string | undefined {
  const known = limits === null ? undefined : { maxOutputTokens: 8_192, ...limits };
  try {
    return answerBound(budget, { units: 300, alias: 'default', limits: known });
  } catch (error) {
    return error instanceof AppError ? `${error.reason}: ${error.message}` : String(error);
  }
}

describe('the bound of an answer', () => {
  it('is absent where the agent bounds nothing', () => {
    expect(bound({})).toBeUndefined();
    expect(bound({}, { unpriced: 'big-1' })).toBeUndefined();
  });

  it.each([
    [99, /^BudgetExceeded: max_tokens is used up but for 99 of them; the next question has about 100$/],
    [100, /^BudgetExceeded: max_tokens is used up but for 100 of them/],
    [101, /^1$/],
    [102, /^2$/],
  ])('of %i tokens that are left, less those of the question', (tokens, wanted) => {
    expect(String(bound({ tokens }))).toMatch(wanted);
  });

  // The question costs 0.0002 USD, and each token of the answer 0.00001.
  it.each([
    [0.000_1, /^BudgetExceeded: max_cost_usd is used up but for 0\.0001 USD; the next question has about 100 tokens$/],
    [0.000_209_9, /^BudgetExceeded: max_cost_usd is used up but for 0\.00021 USD/],
    [0.000_21, /^1$/],
    [0.000_219_9, /^1$/],
    [0.000_22, /^2$/],
    [0.001_2, /^100$/],
  ])('costs no more than the %d USD that are left', (costUsd, wanted) => {
    expect(String(bound({ costUsd }))).toMatch(wanted);
  });

  it('is the lower one of both', () => {
    expect(bound({ tokens: 150, costUsd: 0.000_5 })).toBe(30);
    expect(bound({ tokens: 120, costUsd: 0.000_5 })).toBe(20);
  });

  it('loses no token to sums of prices', () => {
    // 0.1 + 0.2 is more than 0.3.
    expect(bound({ costUsd: 0.3 - 0.1 - 0.2 + 0.000_3 })).toBe(10);
  });

  it('is absent where the model costs nothing', () => {
    expect(bound({ costUsd: 1 }, { price: { input_per_million: 0, output_per_million: 0 } })).toBeUndefined();
    expect(bound({ costUsd: 0.000_2 }, { price: { ...price, output_per_million: 0 } })).toBeUndefined();
    expect(bound({ costUsd: 0.000_1 }, { price: { ...price, output_per_million: 0 } })).toMatch(/^BudgetExceeded/);
  });

  it('of a cost has no meaning without a price, and says what to do', () => {
    expect(bound({ costUsd: 1 }, { price, unpriced: 'big-1' })).toBe(
      'PriceUnknown: max_cost_usd bounds nothing: the node configuration has no price of the model big-1 (alias default). ' +
        'Add it to spec.prices, with 0 where it costs nothing, or bound the execution by max_tokens',
    );
  });

  it('is left to the question itself where the alias is not known', () => {
    expect(bound({ costUsd: 1 }, null)).toBeUndefined();
  });
});

it('what is left of a bound is its value less what was used, and nothing at the value itself', () => {
  const at = (outputTokens: number, costUsd?: number) => ({ ...emptyState(), inputTokens: 10, outputTokens, costUsd });
  const bounds = { max_tokens: 100, max_cost_usd: 0.5 };
  const left = (outputTokens: number, costUsd?: number) => {
    const budget = remaining(at(outputTokens, costUsd), bounds);
    return usedUp(budget, bounds) ?? budget;
  };
  expect(remaining(at(50, 1), {})).toEqual({});
  expect(left(0)).toEqual({ tokens: 90, costUsd: 0.5 });
  expect(left(89, 0.25)).toEqual({ tokens: 1, costUsd: 0.25 });
  expect(left(90, 0.25)).toBe('max_tokens of 100 is used up');
  expect(left(91, 0.5)).toBe('max_cost_usd of 0.5 is used up');
  expect(left(0, 0.75)).toBe('max_cost_usd of 0.5 is used up');
});

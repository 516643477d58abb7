import type { AgentSpec } from '../../crds/schema/agent.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import { withoutPrice } from '../conversation/budget.ts';
import { unpricedModel } from '../models/unpriced.ts';
import type { NodeConfig } from '../node-config/index.ts';
import { modelAliasOf } from './model-alias.ts';

/** A warning for each model whose answers `max_cost_usd` would bound, had it a price (ADR 0125). */
export function priceWarnings(config: NodeConfig, spec: AgentSpec): readonly Problem[] {
  if (spec.execution?.max_cost_usd === undefined) return [];
  return [...new Set(boundAliases(spec))].flatMap((alias) => {
    const model = unpricedModel(config, alias);
    if (model === undefined) return [];
    const message = `${withoutPrice(alias, model)}; until then executions of this agent fail with PriceUnknown`;
    return [warningAt(['spec', 'execution', 'max_cost_usd'], 'price_unknown', message)];
  });
}

/** The aliases that an execution asks itself; an agent that judges has bounds of its own beside. */
function boundAliases(spec: AgentSpec): readonly string[] {
  const own = modelAliasOf(spec);
  const { validation, tool_validation: ofCalls } = spec.execution ?? {};
  const ofAnswers = validation === undefined || validation.agent !== undefined ? [] : [validation.model ?? own];
  return [own, ...ofAnswers, ...(ofCalls?.enabled === true ? [ofCalls.model ?? own] : [])];
}

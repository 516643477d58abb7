import type { Agent, AgentSpec } from '../../crds/schema/agent.ts';
import { type Problem, warningAt } from '../../crds/problem.ts';
import { withoutPrice } from '../conversation/budget.ts';
import { unpricedModel } from '../models/unpriced.ts';
import type { NodeConfig } from '../node-config/index.ts';
import { aliasWarnings, askedAliases } from './asked-aliases.ts';
import type { KnownAgents } from './find-agent.ts';
import { judgeWarnings } from './judge-name.ts';

interface Surroundings {
  readonly agents: KnownAgents;
  readonly nodeConfig: NodeConfig;
}

/** Things that a legal definition names and does not find around it now, such as a judge, a model or its price. */
export const agentWarnings = ({ agents, nodeConfig }: Surroundings, agent: Agent): readonly Problem[] => [
  ...judgeWarnings(agents, agent),
  ...aliasWarnings(nodeConfig, agent.spec),
  ...priceWarnings(nodeConfig, agent.spec),
];

/** A warning for each model whose answers `max_cost_usd` would bound, had it a price (ADR 0125). */
function priceWarnings(config: NodeConfig, spec: AgentSpec): readonly Problem[] {
  if (spec.execution?.max_cost_usd === undefined) return [];
  return [...new Set(askedAliases(spec).map(({ alias }) => alias))].flatMap((alias) => {
    const model = unpricedModel(config, alias);
    if (model === undefined) return [];
    const message = `${withoutPrice(alias, model)}; until then executions of this agent fail with PriceUnknown`;
    return [warningAt(['spec', 'execution', 'max_cost_usd'], 'price_unknown', message)];
  });
}

import type { NodeConfig, NodeModel } from '../node-config/node-config.ts';
import { ownMember } from '../own-member.ts';
import { possibleTargets } from './selection.ts';

/** The first of the models that has no price. */
export const unpricedOf = (prices: NodeConfig['prices'], models: readonly NodeModel[]): string | undefined =>
  models.find(({ model }) => ownMember(prices, model) === undefined)?.model;

/** A model that may answer for the alias and has no price; undefined where each has one, or the alias is not known. */
export function unpricedModel(config: NodeConfig, alias: string): string | undefined {
  const models = possibleTargets(config, alias).map(({ model }) => model);
  return unpricedOf(config.prices, models);
}

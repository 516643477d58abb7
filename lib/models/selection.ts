import { meantBy } from '../../crds/similar-name.ts';
import type { LlmProvider, NodeConfig, NodeModel } from '../node-config/node-config.ts';
import { ModelError } from './models.ts';

/** A provider and its model for an alias. */
export interface ModelTarget {
  readonly provider: LlmProvider;
  readonly model: NodeModel;
}

/** An alias, and the provider that served the execution before (requirements LLM-19). */
interface Wanted {
  readonly alias: string;
  readonly provider?: string;
  /** Field of the agent that names the alias. */
  readonly field?: string;
}

/** Inputs of a choice besides the configuration. */
export interface SelectionState {
  /** Where a round of the alias is: grows by one with each request. */
  readonly turn: number;
  /** Whether a provider is known to be away. */
  readonly isAway: (provider: string) => boolean;
}

/**
 * Providers to ask, in order; the next one is asked where the one before it fails (requirements LLM-13 to LLM-15). Only
 * `failover` ever names more than one: a request that was meant for a local model does not leave the installation.
 * @throws ModelError `UnknownAlias` or `ProviderGone` (AMB-090).
 */
export function selectTargets(config: NodeConfig, wanted: Wanted, state: SelectionState): readonly ModelTarget[] {
  if (wanted.provider !== undefined) return [pinnedTarget(config, wanted, wanted.provider)];
  const targets = targetsOf(config, wanted.alias);
  if (targets.length === 0) throw unknownAlias(config, wanted);
  return orders[config.llm_selection.strategy](targets, config, state);
}

/** Every provider that may answer: all that define the alias, but for `prefer-local`, which always chooses the same one. */
export function possibleTargets(config: NodeConfig, alias: string): readonly ModelTarget[] {
  const targets = targetsOf(config, alias);
  return config.llm_selection.strategy === 'prefer-local' ? preferLocal(targets, config) : targets;
}

function preferLocal(targets: readonly ModelTarget[], config: NodeConfig): readonly ModelTarget[] {
  const local = targets.filter(({ provider }) => provider.type === 'ollama');
  return defaultFirst(local.length > 0 ? local : targets, config).slice(0, 1);
}

type Order = (targets: readonly ModelTarget[], config: NodeConfig, state: SelectionState) => readonly ModelTarget[];

const orders: Readonly<Record<NodeConfig['llm_selection']['strategy'], Order>> = {
  'prefer-local': preferLocal,
  'round-robin'(targets, _config, { turn, isAway }) {
    const present = targets.filter(({ provider }) => !isAway(provider.name));
    const round = present.length > 0 ? present : targets;
    const next = turn % round.length;
    return round.slice(next, next + 1);
  },
  failover: (targets, config) => defaultFirst(targets, config),
};

/** The default provider where it is among them, then the others as the file lists them. */
function defaultFirst(targets: readonly ModelTarget[], { llm_selection }: NodeConfig): readonly ModelTarget[] {
  const isDefault = ({ provider }: ModelTarget): boolean => provider.name === llm_selection.default_provider;
  return [...targets.filter(isDefault), ...targets.filter((target) => !isDefault(target))];
}

/** Every provider that defines the alias, as the file lists them. */
export function targetsOf({ llm_providers }: NodeConfig, alias: string): readonly ModelTarget[] {
  return llm_providers.flatMap((provider) => {
    const model = provider.models.find((each) => each.alias === alias);
    return model === undefined ? [] : [{ provider, model }];
  });
}

function pinnedTarget(config: NodeConfig, wanted: Wanted, name: string): ModelTarget {
  const { alias } = wanted;
  const provider = config.llm_providers.find((each) => each.name === name);
  if (provider === undefined) {
    const message = `the provider ${name}, which served this execution with the model alias ${alias}, is no longer configured`;
    throw new ModelError('ProviderGone', message);
  }
  const model = provider.models.find((each) => each.alias === alias);
  if (model === undefined) {
    throw unknownAlias({ llm_providers: [provider] }, wanted, ` by the provider ${name}, which served this execution`);
  }
  return { provider, model };
}

const unknownAlias = (config: Providers, { alias, field = 'spec.runtime.model' }: Wanted, by = ''): ModelError =>
  new ModelError(
    'UnknownAlias',
    `${undefinedAlias(config, alias, by)}; change ${field} of the agent, or have an operator add the alias to spec.llm_providers`,
  );

type Providers = Pick<NodeConfig, 'llm_providers'>;

/** Most aliases that a message lists. */
const aliasesListed = 10;

/** Says that no provider defines the alias, and names those that there are. `by` names the one provider that counts. */
export function undefinedAlias({ llm_providers }: Providers, alias: string, by = ''): string {
  const known = [...new Set(llm_providers.flatMap(({ models }) => models.map((model) => model.alias)))].toSorted();
  const others = known.length > aliasesListed ? ` and ${known.length - aliasesListed} others` : '';
  const listed = `${known.slice(0, aliasesListed).join(', ')}${others}`;
  const hint = `${meantBy(alias, known)}${known.length === 0 ? '; no alias is' : `; defined: ${listed}`}`;
  return `the model alias ${alias} is not defined${by}${hint}`;
}

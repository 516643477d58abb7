import { formatPlace, type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { AgentSpec } from '../../crds/schema/agent.ts';
import { targetsOf, undefinedAlias } from '../models/selection.ts';
import type { NodeConfig } from '../node-config/index.ts';
import { modelAliasOf } from './model-alias.ts';

const places = {
  agent: ['spec', 'runtime', 'model'],
  judgeOfAnswers: ['spec', 'execution', 'validation', 'model'],
  judgeOfCalls: ['spec', 'execution', 'tool_validation', 'model'],
} as const satisfies Readonly<Record<string, Place>>;

const judgePlaces = { answers: places.judgeOfAnswers, calls: places.judgeOfCalls } as const;

/** The alias that a judge asks, `model` where it is given, and the field of the agent that names it. */
export function judgeAlias(
  spec: AgentSpec,
  judged: keyof typeof judgePlaces,
  model: string | undefined,
): { readonly alias: string; readonly field: string } {
  if (model === undefined) return { alias: modelAliasOf(spec), field: formatPlace(places.agent) };
  return { alias: model, field: formatPlace(judgePlaces[judged]) };
}

interface AskedAlias {
  readonly at: Place;
  readonly alias: string;
}

/** The aliases that an execution asks itself, and the fields that name them; an agent that judges has its own. */
export function askedAliases(spec: AgentSpec): readonly AskedAlias[] {
  const { validation, tool_validation: ofCalls } = spec.execution ?? {};
  const judges = [
    { at: places.judgeOfAnswers, alias: validation?.agent === undefined ? validation?.model : undefined },
    { at: places.judgeOfCalls, alias: ofCalls?.enabled === true ? ofCalls.model : undefined },
  ];
  const named = judges.flatMap(({ at, alias }) => (alias === undefined ? [] : [{ at, alias }]));
  return [{ at: places.agent, alias: modelAliasOf(spec) }, ...named];
}

/** A warning for each alias that no provider defines: another installation may, and an operator may add it. */
export function aliasWarnings(config: NodeConfig, spec: AgentSpec): readonly Problem[] {
  return askedAliases(spec)
    .filter(({ alias }) => targetsOf(config, alias).length === 0)
    .map(({ at, alias }) => {
      const message = `${undefinedAlias(config, alias)}; until an operator adds it to spec.llm_providers, no execution of this agent can ask it`;
      return warningAt(at, 'unknown_alias', message);
    });
}

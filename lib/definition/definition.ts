import { limits } from '../../crds/limits.ts';
import type { Place, Problem } from '../../crds/problem.ts';
import type { State } from '../../crds/schema/state.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import { similarName } from '../../crds/similar-name.ts';
import { isJsonObject } from '../json-object.ts';
import type { Work } from '../work/work.ts';
import { CheckedTemplates } from './template-fields.ts';

/** A state that satisfies the schema. */
export interface NamedState {
  readonly name: string;
  readonly at: Place;
  readonly state: State;
}

/** A state that a rule leads to. */
interface NamedTarget {
  readonly at: Place;
  readonly target: string;
}

/** Probable meanings of mistyped names of one definition: as many hints as are shown, and no more work than that. */
class Hints {
  #left: number = limits.warnings;

  /** One of the names that `written` is probably meant to be; undefined where none is, or enough was looked for. */
  meant(names: () => Iterable<string>, written: string): string | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return similarName(written, names());
  }
}

/**
 * The parts of a definition that satisfy the schema. Checks of meaning look at these only, so a slip in one state
 * hides no problem of another and no check meets a value of the wrong type.
 */
export interface Definition {
  readonly spec: Readonly<Partial<Omit<WorkflowSpec, 'states'>>>;
  /** Fields of the spec that are left out because of a slip. */
  readonly broken: ReadonlySet<unknown>;
  /** Names of all states, also of those with a slip. */
  readonly stateNames: ReadonlySet<string>;
  readonly states: readonly NamedState[];
  /** Targets of all rules that are texts, also of rules and states with a slip. */
  readonly targets: readonly NamedTarget[];
  /** Whether every state satisfies the schema; only then is it known what leads where. */
  readonly isComplete: boolean;
  /** Probable meanings of mistyped names in it. */
  readonly hints: Hints;
  /** Its templates, which are parsed once however many checks read them. */
  readonly templates: CheckedTemplates;
}

/**
 * A question asked of a definition. Work that grows with the texts of its author counts against the budget.
 * @throws WorkBudgetExceeded
 */
export type DefinitionCheck = (definition: Definition, work: Work) => readonly Problem[];

/** Leaves out what the problems of the schema name. The places of the problems begin with `spec`. */
export function soundParts(spec: unknown, problems: readonly Problem[]): Definition {
  const fields = isJsonObject(spec) ? spec : {};
  const states = isJsonObject(fields['states']) ? fields['states'] : {};
  const brokenFields = new Set(problems.filter(({ at }) => at[1] !== 'states' || at.length < 3).map(({ at }) => at[1]));
  const brokenStates = new Set(problems.filter(({ at }) => at[1] === 'states').map(({ at }) => at[2]));
  const names = Object.keys(states);
  const sound = Object.entries(fields).filter(([name]) => name !== 'states' && !brokenFields.has(name));
  return {
    spec: Object.fromEntries(sound) as Definition['spec'],
    broken: brokenFields,
    stateNames: new Set(names),
    states: names
      .filter((name) => !brokenStates.has(name))
      .map((name) => ({ name, at: ['spec', 'states', name], state: states[name] as State })),
    targets: Object.entries(states).flatMap(([name, state]) => targetsOf(state, ['spec', 'states', name])),
    isComplete: names.length > 0 && brokenStates.size === 0,
    hints: new Hints(),
    templates: new CheckedTemplates(),
  };
}

function targetsOf(state: unknown, at: Place): readonly NamedTarget[] {
  const rules: unknown = isJsonObject(state) ? state['transitions'] : undefined;
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown, index) => {
    const target = isJsonObject(rule) ? rule['target'] : undefined;
    return typeof target === 'string' ? [{ at: [...at, 'transitions', index, 'target'], target }] : [];
  });
}

import { errorAt, type Problem, warningAt } from '../../crds/problem.ts';
import type { Definition, NamedState } from './definition.ts';

/** Where states lead: to states that exist (WF-MAN-16, WF-COND-02); warns of what can never be reached. */
export function checkGraph(definition: Definition): readonly Problem[] {
  const { spec, stateNames, states } = definition;
  const initial = spec.initial_state;
  return [
    ...(initial !== undefined && stateNames.size > 0 && !stateNames.has(initial)
      ? [errorAt(['spec', 'initial_state'], 'unknown_state', unknownState(definition, initial))]
      : []),
    ...checkTargets(definition),
    ...states.flatMap(checkOrder),
    ...unreachable(definition),
  ];
}

const checkTargets = (definition: Definition): Problem[] =>
  definition.targets
    .filter(({ target }) => !definition.stateNames.has(target))
    .map(({ at, target }) => errorAt(at, 'unknown_state', unknownState(definition, target)));

function unknownState({ hints, stateNames }: Definition, written: string): string {
  const meant = hints.meant(() => stateNames, written);
  return `'${written}' is not a key of states${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

/** The first match wins, so nothing behind a rule that always matches is ever tested (WF-COND-26). */
function checkOrder({ at, state }: NamedState): Problem[] {
  const always = state.transitions.findIndex(({ condition = 'always' }) => condition === 'always');
  if (always === -1 || always === state.transitions.length - 1) return [];
  const message = `is never tested, because transitions[${always}] always matches`;
  return [warningAt([...at, 'transitions', always + 1], 'unreachable_rule', message)];
}

function unreachable({ spec, stateNames, states, isComplete }: Definition): Problem[] {
  const initial = spec.initial_state;
  if (!isComplete || initial === undefined || !stateNames.has(initial)) return [];
  const targets = new Map(states.map(({ name, state }) => [name, state.transitions.map((rule) => rule.target)]));
  const reached = new Set([initial]);
  for (const name of reached) for (const target of targets.get(name) ?? []) reached.add(target);
  return states
    .filter(({ name }) => !reached.has(name))
    .map(({ at }) => warningAt(at, 'unreachable_state', 'no transition leads here from initial_state'));
}

import { type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { DefinitionCheck, NamedState } from './definition.ts';

/**
 * Keys of the Blackboard that a state writes beside its entry and that are names of states. The specification gives
 * each finished state its own name (WF-RUN-03) and `update_context` any key, so it is legal and rarely meant.
 */
export const checkWrittenKeys: DefinitionCheck = ({ states, stateNames }) =>
  states.flatMap((named) =>
    keysOf(named).flatMap(({ at, key }) => (stateNames.has(key) ? [problemOf(named.name, key, at)] : [])),
  );

interface WrittenKey {
  readonly at: Place;
  readonly key: string;
}

function keysOf({ at, state }: NamedState): readonly WrittenKey[] {
  if (state.kind === 'System' && state.command.trim() === 'update_context')
    return Object.keys(state.env ?? {}).map((key) => ({ at: [...at, 'env', key], key }));
  if (state.kind !== 'Subworkflow' || state.mode === 'fire_and_forget' || state.result_key === undefined) return [];
  return [{ at: [...at, 'result_key'], key: state.result_key }];
}

function problemOf(own: string, key: string, at: Place): Problem {
  const what =
    key === own
      ? `is the name of this state, whose entry it hides: {{${key}.status}} and {{${key}.output}} do not exist then`
      : `is the name of another state: each of the two overwrites what the other has written under it`;
  return warningAt(at, 'hides_entry', `${what}; choose a key that no state is called by`);
}

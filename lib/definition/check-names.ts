import { errorAt, type Place, type Problem, warningAt } from '../../crds/problem.ts';
import { prototypeKeys, reservedStateNames, reservedStepNames, stateNamePattern } from '../../crds/reserved-names.ts';
import type { Definition, NamedState } from './definition.ts';
import { repeatedIndexes } from './repeated.ts';

const stateName = new RegExp(stateNamePattern);
const isPrototypeKey = (name: string): boolean => (prototypeKeys as readonly string[]).includes(name);

/** Names of states, steps and keys that templates can tell apart (AMB-061) and that no other has (WF-PCR-02). */
export function checkNames({ spec, stateNames, states }: Definition): readonly Problem[] {
  return [
    ...[...stateNames].flatMap((name) => checkStateName(name)),
    ...Object.keys(spec.context ?? {}).flatMap((key) => checkKey(['spec', 'context', key], key)),
    ...Object.keys(spec.output_template ?? {}).flatMap((key) => checkKey(['spec', 'output_template', key], key)),
    ...states.flatMap((named) => [...checkSteps(named), ...checkResultKey(named, stateNames)]),
  ];
}

function checkStateName(name: string): Problem[] {
  const at = ['spec', 'states', name];
  if (reservedStateNames.includes(name)) {
    return [errorAt(at, 'reserved_name', 'the name is reserved, because templates read it as something else')];
  }
  if (stateName.test(name)) return [];
  return [errorAt(at, 'state_name', `the name of a state must match ${stateNamePattern}`)];
}

function checkKey(at: Place, key: string): Problem[] {
  return isPrototypeKey(key) ? [errorAt(at, 'reserved_name', 'the key is reserved')] : [];
}

function checkSteps({ at, state }: NamedState): Problem[] {
  if (state.kind !== 'ParallelContainerRun') return [];
  const names = state.steps.map((step) => step.name);
  const place = (index: number): Place => [...at, 'steps', index, 'name'];
  return [
    ...repeatedIndexes(names).map((index) =>
      errorAt(place(index), 'duplicate', `another step has the name ${names[index] ?? ''}`),
    ),
    ...names.flatMap((name, index) =>
      reservedStepNames.includes(name)
        ? [errorAt(place(index), 'reserved_name', `a step cannot be named ${reservedStepNames.join(', ')}`)]
        : [],
    ),
  ];
}

function checkResultKey({ at, state }: NamedState, stateNames: ReadonlySet<string>): Problem[] {
  if (state.kind !== 'Subworkflow' || state.result_key === undefined) return [];
  const place = [...at, 'result_key'];
  if (isPrototypeKey(state.result_key)) return [errorAt(place, 'reserved_name', 'the key is reserved')];
  if (state.mode === 'fire_and_forget') {
    return [warningAt(place, 'no_effect', 'has no effect, because no state waits for a fire_and_forget child')];
  }
  if (!stateNames.has(state.result_key)) return [];
  return [
    warningAt(place, 'overwrites_state', 'is the name of a state too; one overwrites the other on the Blackboard'),
  ];
}

import { limits } from '../../crds/limits.ts';
import { errorAt, type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { State } from '../../crds/schema/state.ts';
import { quantityValue } from '../quantity.ts';
import type { Definition } from './definition.ts';

/** Amounts of memory are above zero, and large enough for a container to start (requirements AMB-192). */
export function checkResources({ states }: Definition): readonly Problem[] {
  return states.flatMap(({ at, state }) =>
    memoryOf(at, state).flatMap(([place, memory]) => checkMemory([...place, 'resources', 'memory'], memory)),
  );
}

function memoryOf(at: Place, state: State): [Place, string | undefined][] {
  if (state.kind === 'ContainerRun') return [[at, state.resources?.memory]];
  if (state.kind !== 'ParallelContainerRun') return [];
  return state.steps.map((step, index) => [[...at, 'steps', index], step.resources?.memory]);
}

function checkMemory(at: Place, memory: string | undefined): Problem[] {
  if (memory === undefined) return [];
  const bytes = quantityValue(memory) ?? 0;
  if (bytes <= 0) return [errorAt(at, 'minimum', 'must be more than zero')];
  if (bytes >= limits.memoryBytesMin) return [];
  const meant = memory.endsWith('m') ? `; m is a thousandth, ${memory.slice(0, -1)}Mi is mebibytes` : '';
  return [warningAt(at, 'too_small', `${memory} is less than 6Mi, with which no container starts${meant}`)];
}

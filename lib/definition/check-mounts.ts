import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import type { State } from '../../crds/schema/state.ts';
import { withoutTrailingSlashes } from '../trailing-slashes.ts';
import type { Definition } from './definition.ts';
import { repeatedIndexes } from './repeated.ts';
import { volumeNames } from './volume-names.ts';

interface Mounts {
  readonly at: Place;
  readonly mounts: readonly { readonly name?: string; readonly mount_path: string }[];
}

/** Mounted volumes exist (WF-CR-10) and no two of a container share a path. */
export function checkMounts({ spec, states, broken }: Definition): readonly Problem[] {
  const known = volumeNames(spec.storage);
  return states
    .flatMap(({ at, state }) => mountsOf(at, state))
    .flatMap(({ at, mounts }) => [
      ...(broken.has('storage')
        ? []
        : mounts.flatMap(({ name }, index) => checkVolume([...at, index, 'name'], name, known))),
      ...repeatedIndexes(mounts.map(({ mount_path: path }) => withoutTrailingSlashes(path))).map((index) =>
        errorAt([...at, index, 'mount_path'], 'duplicate', 'another volume is mounted at this path'),
      ),
    ]);
}

function mountsOf(at: Place, state: State): Mounts[] {
  if (state.kind === 'Agent' || state.kind === 'ContainerRun') {
    return [{ at: [...at, 'volumes'], mounts: state.volumes ?? [] }];
  }
  if (state.kind !== 'ParallelContainerRun') return [];
  return state.steps.map((step, index) => ({ at: [...at, 'steps', index, 'volumes'], mounts: step.volumes ?? [] }));
}

function checkVolume(at: Place, name: string | undefined, known: ReadonlySet<string>): Problem[] {
  if (name === undefined || known.has(name)) return [];
  const hint = name === 'workspace' ? 'declare spec.storage.workspace' : 'declare it in spec.storage.shared_volumes';
  return [errorAt(at, 'unknown_volume', `'${name}' is not a volume of this workflow; ${hint}`)];
}

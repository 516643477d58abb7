import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import type { Definition } from './definition.ts';
import { repeatedIndexes } from './repeated.ts';

/** Which settings fit which class of volume, and names that are unique (WF-STOR-03 to WF-STOR-09). */
export function checkStorage({ spec: { storage } }: Definition): readonly Problem[] {
  const { workspace, shared_volumes: shared = [] } = storage ?? {};
  const place = (index: number): Place => ['spec', 'storage', 'shared_volumes', index];
  const names = shared.map((volume) => volume.name);
  return [
    ...(workspace ? checkVolume(['spec', 'storage', 'workspace'], workspace, ['ttl_hours']) : []),
    ...shared.flatMap((volume, index) => [
      ...checkVolume(place(index), volume, ['ttl_hours', 'size_limit_mb']),
      ...checkName([...place(index), 'name'], volume.name),
    ]),
    ...repeatedIndexes(names).map((index) =>
      errorAt([...place(index), 'name'], 'duplicate', `another volume has the name ${names[index] ?? ''}`),
    ),
  ];
}

interface AnyVolume {
  readonly storage_class?: 'ephemeral' | 'persistent';
  readonly ttl_hours?: number;
  readonly size_limit_mb?: number;
  readonly volume_id?: string;
}

function checkVolume(at: Place, volume: AnyVolume, forEphemeral: readonly (keyof AnyVolume)[]): Problem[] {
  if (volume.storage_class === 'persistent') {
    return forEphemeral
      .filter((field) => volume[field] !== undefined)
      .map((field) => errorAt([...at, field], 'storage_class', `${field} is for ephemeral volumes only`));
  }
  if (volume.volume_id === undefined) return [];
  return [errorAt([...at, 'volume_id'], 'storage_class', 'volume_id is for persistent volumes only')];
}

function checkName(at: Place, name: string): Problem[] {
  // The API server would put U+FFFD in its place, and two names could become one.
  if (!name.isWellFormed()) return [errorAt(at, 'pattern', 'must be text: half of a surrogate pair is no character')];
  if (name !== 'workspace') return [];
  return [errorAt(at, 'reserved_name', "'workspace' is the name of the default volume; choose another")];
}

import { posix } from 'node:path';
import { globWork } from './path-glob.ts';
import type { Boundary } from './path-overlap.ts';
import { boundariesIn, coversFolder, isDenied, isInside, mayLieWithin, narrowedBy, pathDenials } from './path-rules.ts';
import type { ToolCaller } from './tool.ts';
import { volumeRules } from './volume-rules.ts';

/** A file of a volume, by its absolute path from the root of the volume. */
export interface WantedFile {
  /** Name of the Volume. */
  readonly volume: string;
  readonly path: string;
  readonly isWrite: boolean;
}

/** Where a volume is to be mounted for a caller, so that the rules there mean the same as in the caller's own pod. */
export interface VolumePlace {
  readonly folder: string;
  readonly boundaries: readonly Boundary[];
  readonly deny: readonly string[];
}

/** Where a volume is mounted that the caller does not mount itself. */
const grantFolder = '/files';

/**
 * The place at which the caller may touch the file, as far as the texts of its rules say; `runner fs` decides for the place
 * that the path leads to. Undefined where the policy refuses it. The bounds of a mount bound its volume; a volume that the
 * caller does not mount needs a rule `volume:NAME/…` (requirements WF-STOR-13, TOOL-FS-01).
 */
export function placeOf(caller: ToolCaller, file: WantedFile): VolumePlace | undefined {
  const work = globWork();
  return placesOf(caller, file.volume).find(({ folder, boundaries, deny }) => {
    const path = posix.join(folder, file.path);
    const usable = file.isWrite ? boundaries.filter(({ write }) => write) : boundaries;
    return isInside(usable, path, work) && !isDenied(deny, path, work);
  });
}

/** Why a place does not open all of a folder, for a message; undefined: it does. */
export function exceptionWithin(
  { folder, boundaries, deny }: VolumePlace,
  { path, isWrite }: Pick<WantedFile, 'path' | 'isWrite'>,
): string | undefined {
  const whole = posix.join(folder, path);
  const work = globWork();
  const denied = deny.find((rule) => mayLieWithin(rule, whole, work));
  if (denied !== undefined) return `deny_list has the rule ${denied}`;
  const usable = boundaries.filter(({ write }) => write || !isWrite);
  return usable.some((boundary) => coversFolder(boundary.path, whole, work))
    ? undefined
    : 'no rule of path_allowlist or of the manifest covers all of it';
}

function placesOf(caller: ToolCaller, volume: string): readonly VolumePlace[] {
  const own = caller.mounts.filter((mount) => mount.volume === volume);
  if (own.length === 0) return [grantedPlace(caller, volume)];
  const deny = pathDenials(caller);
  const boundaries = boundariesIn(caller);
  return own.map((mount) => ({
    folder: posix.normalize(mount.path),
    boundaries: boundaries([mount]),
    deny,
  }));
}

/** The manifest and the SecurityContext both grant it; one that has no list of paths leaves it to the other. */
function grantedPlace({ agent, security }: ToolCaller, volume: string): VolumePlace {
  const { path_allowlist: allowed, deny_list: denied = [] } = security;
  const filesystem = agent?.spec.security?.filesystem;
  const at = { folder: grantFolder, volume };
  const mount = { path: grantFolder, writable: true, volume };
  const rules = {
    ...(filesystem === undefined
      ? {}
      : { filesystem: { read: volumeRules(filesystem.read, at), write: volumeRules(filesystem.write, at) } }),
    ...(allowed === undefined ? {} : { allowed: volumeRules(allowed, at) }),
  };
  const isGranted = filesystem !== undefined || allowed !== undefined;
  return {
    folder: grantFolder,
    boundaries: isGranted ? narrowedBy(rules)([{ path: grantFolder, write: true }]) : [],
    deny: pathDenials({ mounts: [mount], security: { deny_list: denied } }),
  };
}

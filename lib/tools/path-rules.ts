import { posix } from 'node:path';
import { type GlobWork, globWork, matchesGlob } from './path-glob.ts';
import type { ToolCaller } from './tool.ts';
import { volumeRules } from './volume-rules.ts';

/** A folder with all in it, or a glob of absolute paths; `runner fs` holds every access to them. */
export interface Boundary {
  readonly path: string;
  readonly write: boolean;
}

/** Where relative paths of tools begin. */
export const workspace = '/workspace';

const isGlob = (path: string): boolean => /[*?[{]/.test(path);

/**
 * Paths that the caller may use: the folders of its pod, less what the manifest's `security.filesystem` and the
 * SecurityContext's `path_allowlist` leave out. Where two rules overlap in a way that is no single rule, the overlap
 * counts as forbidden.
 */
export function boundariesOf({ agent, security, mounts }: ToolCaller): readonly Boundary[] {
  const folders = mounts.map(({ path, writable }) => ({ path: posix.normalize(path), write: writable }));
  return narrowed(folders, { filesystem: agent?.spec.security?.filesystem, allowed: security.path_allowlist });
}

interface Filesystem {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

/** Rules that each can only narrow; absent: they leave everything. */
interface PathRules {
  /** Rules of the manifest. */
  readonly filesystem?: Filesystem | undefined;
  /** Rules of the SecurityContext. */
  readonly allowed?: readonly string[] | undefined;
}

/** The folders that remain. Rules of volumes (`volume:NAME/…`) are no paths, and leave nothing of a folder. */
export function narrowed(folders: readonly Boundary[], { filesystem, allowed }: PathRules): readonly Boundary[] {
  const own = filesystem === undefined ? folders : overlaps(folders, rulesOf(filesystem));
  return allowed === undefined ? own : overlaps(own, rulesOf({ write: allowed }));
}

const isAbsolute = (rule: string): boolean => rule.startsWith('/');

function rulesOf({ read = [], write = [] }: Filesystem): Boundary[] {
  const ruled = (rules: readonly string[], isWrite: boolean): Boundary[] =>
    rules.filter(isAbsolute).map((path) => ({ path: posix.normalize(path), write: isWrite }));
  return [...ruled(read, false), ...ruled(write, true)];
}

/** Paths and globs that deny_list keeps the caller off, those of mounted volumes by their place in the pod. */
export function pathDenials({ mounts, security }: Pick<ToolCaller, 'mounts' | 'security'>): readonly string[] {
  const { deny_list: denied = [] } = security;
  const ofVolumes = mounts.flatMap(({ path: folder, volume }) =>
    volume === undefined ? [] : volumeRules(denied, { folder, volume }),
  );
  return [...denied.filter(isAbsolute), ...ofVolumes];
}

/** As many as `runner fs` takes in one request. */
const boundariesMax = 1_000;

function overlaps(some: readonly Boundary[], others: readonly Boundary[]): readonly Boundary[] {
  const found = new Map<string, boolean>();
  for (const one of some) {
    for (const other of others) {
      const path = overlap(one.path, other.path);
      if (path !== undefined) found.set(path, found.get(path) === true || (one.write && other.write));
    }
  }
  return [...found].slice(0, boundariesMax).map(([path, write]) => ({ path, write }));
}

/** The rule for what both cover; undefined where there is none, or none that is one path or glob. */
function overlap(one: string, other: string): string | undefined {
  if (covers(one, other)) return other;
  return covers(other, one) ? one : undefined;
}

/** Whether everything that `inner` covers is covered by `outer` as well, as far as that can be known. */
function covers(outer: string, inner: string): boolean {
  const tree = outer.endsWith('/**') ? outer.slice(0, -3) || '/' : outer;
  if (isGlob(tree)) return outer === inner;
  return isWithin(tree, isGlob(inner) ? baseOf(inner) : inner);
}

const isWithin = (folder: string, path: string): boolean => {
  const plain = folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder;
  return plain === '/' || path === plain || path.startsWith(`${plain}/`);
};

/** The folder in which all paths are that a glob matches. */
function baseOf(glob: string): string {
  const plain = glob.slice(0, glob.search(/[*?[{]/));
  return plain.slice(0, plain.lastIndexOf('/')) || '/';
}

/** The absolute form of a path that a tool was given. */
export const absolutePath = (path: string): string => posix.resolve(workspace, path);

/** The volume in which a path lies by its text, with the path in it; undefined where no volume is mounted above it. */
export function volumeOf(
  { mounts }: Pick<ToolCaller, 'mounts'>,
  path: string,
): { readonly volume: string; readonly path: string } | undefined {
  const absolute = absolutePath(path);
  const above = mounts.filter((mount) => isWithin(posix.normalize(mount.path), absolute));
  const nearest = above.reduce<(typeof above)[number] | undefined>(
    (best, mount) => (best === undefined || mount.path.length >= best.path.length ? mount : best),
    undefined,
  );
  if (nearest?.volume === undefined) return undefined;
  return { volume: nearest.volume, path: `/${posix.relative(posix.normalize(nearest.path), absolute)}` };
}

/**
 * Whether a path may be touched as far as its text says; `runner fs` decides for the place that it leads to. Rules that take
 * too much work permit nothing.
 */
export function isInside(boundaries: readonly Boundary[], path: string, work: GlobWork = globWork()): boolean {
  return boundaries.some((boundary) => touches(boundary.path, path, work));
}

/**
 * Whether a rule keeps the caller off the path or off a folder above it, as far as its text says. Sets and choices are
 * the runner's to read. Rules that take too much work keep the caller off.
 */
export function isDenied(deny: readonly string[], path: string, work: GlobWork = globWork()): boolean {
  return deny.some((rule) => {
    if (!isGlob(rule)) return isWithin(posix.normalize(rule), path);
    if (/[[{\\]/.test(rule)) return false;
    return matchesGlob(rule.endsWith('/**') ? rule : `${rule}/**`, path, work) ?? true;
  });
}

/** Whether a rule covers all of a folder, as far as its text says. */
export function coversFolder(rule: string, folder: string, work: GlobWork): boolean {
  if (covers(rule, folder)) return true;
  return rule.endsWith('/**') && !/[[{\\]/.test(rule) && matchesGlob(rule, folder, work) === true;
}

/** Whether a rule may be of a path in a folder, as far as its text says. */
export function mayLieWithin(rule: string, folder: string, work: GlobWork): boolean {
  const path = posix.normalize(rule);
  // Sets and choices are the runner's to read; a choice may hold the slashes between names.
  if (/[[{\\]/.test(path)) return isWithin(baseOf(path), folder) || isWithin(folder, baseOf(path));
  const names = path.split('/');
  for (const [at, name] of folder.split('/').entries()) {
    const ruled = names[at];
    if (ruled === undefined || ruled.includes('**')) return true;
    if (matchesGlob(ruled, name, work) === false) return false;
  }
  return true;
}

function touches(rule: string, path: string, work: GlobWork): boolean {
  if (!isGlob(rule)) return isWithin(rule, path);
  // Sets and choices are the runner's to read.
  if (/[[{\\]/.test(rule)) return isWithin(baseOf(rule), path);
  return matchesGlob(rule, path, work) === true;
}

import { posix } from 'node:path';
import { type GlobWork, globWork, matchesGlob, spend } from './path-glob.ts';
import { baseOf, type Boundary, covers, isGlob, overlaps, RuleSet } from './path-overlap.ts';
import type { ToolCaller } from './tool.ts';
import { volumeRules } from './volume-rules.ts';

/** Where relative paths of tools begin. */
export const workspace = '/workspace';

/**
 * Paths that the caller may use: the folders of its pod, less what the manifest's `security.filesystem` and the
 * SecurityContext's `path_allowlist` leave out. Where two rules overlap in a way that is no single rule, the overlap
 * counts as forbidden.
 */
export const boundariesOf = (caller: ToolCaller): readonly Boundary[] => boundariesIn(caller)(caller.mounts);

/** The same of some mounts at a time; the rules, which bound all mounts, are read once. */
export function boundariesIn({ agent, security }: ToolCaller): (mounts: ToolCaller['mounts']) => readonly Boundary[] {
  const narrow = narrowedBy({ filesystem: agent?.spec.security?.filesystem, allowed: security.path_allowlist });
  return (mounts) => narrow(mounts.map(({ path, writable }) => ({ path: posix.normalize(path), write: writable })));
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

/** The folders that remain of others. Rules of volumes (`volume:NAME/…`) are no paths, and leave nothing of a folder. */
export function narrowedBy({ filesystem, allowed }: PathRules): (folders: readonly Boundary[]) => readonly Boundary[] {
  const rules = [filesystem, allowed && { write: allowed }].filter((some) => some !== undefined).map(rulesOf);
  return (folders) => rules.reduce((left, some) => overlaps(new RuleSet(left), some), folders);
}

const isAbsolute = (rule: string): boolean => rule.startsWith('/');

function rulesOf({ read = [], write = [] }: Filesystem): RuleSet {
  const ruled = (rules: readonly string[], isWrite: boolean): Boundary[] =>
    rules.filter(isAbsolute).map((path) => ({ path: posix.normalize(path), write: isWrite }));
  return new RuleSet([...ruled(read, false), ...ruled(write, true)]);
}

/** Paths and globs that deny_list keeps the caller off, those of mounted volumes by their place in the pod. */
export function pathDenials({ mounts, security }: Pick<ToolCaller, 'mounts' | 'security'>): readonly string[] {
  const { deny_list: denied = [] } = security;
  const ofVolumes = mounts.flatMap(({ path: folder, volume }) =>
    volume === undefined ? [] : volumeRules(denied, { folder, volume }),
  );
  return [...denied.filter(isAbsolute), ...ofVolumes];
}

const isWithin = (folder: string, path: string): boolean => {
  const plain = folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder;
  return plain === '/' || path === plain || path.startsWith(`${plain}/`);
};

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
  return boundaries.some(({ path: rule }) => spend(work, rule.length) && touches(rule, path, work));
}

/**
 * Whether a rule keeps the caller off the path or off a folder above it, as far as its text says. Sets and choices are
 * the runner's to read. Rules that take too much work keep the caller off.
 */
export function isDenied(deny: readonly string[], path: string, work: GlobWork = globWork()): boolean {
  return deny.some((rule) => {
    if (!spend(work, rule.length)) return true;
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

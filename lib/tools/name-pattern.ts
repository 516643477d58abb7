import { anyDenyPattern } from '../../crds/tool-name.ts';

const form = new RegExp(anyDenyPattern);

/** The texts between the stars of a pattern. */
interface Glob {
  readonly first: string;
  readonly middle: readonly string[];
  readonly last: string;
}

/** Undefined where there is no star. */
function globOf(pattern: string): Glob | undefined {
  if (!pattern.includes('*')) return undefined;
  const [first = '', ...middle] = pattern.split('*');
  return { first, last: middle.pop() ?? '', middle };
}

function fits({ first, middle, last }: Glob, name: string): boolean {
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of middle) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** Whether a name fits a pattern, in which `*` is any text. Takes time linear in both, whatever the pattern. */
export function matchesName(pattern: string, name: string): boolean {
  const glob = globOf(pattern);
  return glob === undefined ? pattern === name : fits(glob, name);
}

class PatternList {
  readonly #exact: ReadonlySet<string>;
  readonly #globs: readonly Glob[];

  constructor(patterns: readonly string[]) {
    this.#exact = new Set(patterns);
    this.#globs = [...this.#exact].map(globOf).filter((glob) => glob !== undefined);
  }

  /** A name holds no star, so that no glob is taken for one. */
  matches(name: string): boolean {
    return this.#exact.has(name) || this.#globs.some((glob) => fits(glob, name));
  }
}

/** Patterns that are read again for each name: that is cheaper than remembering them. */
const shortList = 1;

/** Lists that were read before: a list of tools asks those of one definition for each tool. */
const read = new WeakMap<readonly string[], PatternList>();
const unclear = new WeakMap<readonly string[], boolean>();

function remembered<Result>(
  known: WeakMap<readonly string[], Result>,
  patterns: readonly string[],
  make: () => Result,
): Result {
  const before = known.get(patterns);
  if (before !== undefined) return before;
  const made = make();
  known.set(patterns, made);
  return made;
}

/** Whether one of the patterns fits. A list is read once: it must not change. */
export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.length <= shortList
    ? patterns.some((pattern) => matchesName(pattern, name))
    : remembered(read, patterns, () => new PatternList(patterns)).matches(name);

/**
 * Whether one of the patterns that keep tools back fits; those of paths fit no tool. One that no definition could ever hold,
 * such as `fs.?`, was stored by an older version, and its meaning is not known: it fits every name.
 */
export const matchesDenied = (patterns: readonly string[], name: string): boolean =>
  patterns.length > 0 &&
  (matchesAny(patterns, name) || remembered(unclear, patterns, () => patterns.some((pattern) => !form.test(pattern))));

/** Whether one of the patterns of spec.approval fits: there `cmd`, the name that manifests give to cmd.run, means it as well. */
export const matchesApproved = (patterns: readonly string[], name: string): boolean =>
  matchesDenied(patterns, name) || (name === 'cmd.run' && patterns.includes('cmd'));

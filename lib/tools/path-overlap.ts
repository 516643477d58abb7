/** A folder with all in it, or a glob of absolute paths; `runner fs` holds every access to them. */
export interface Boundary {
  readonly path: string;
  readonly write: boolean;
}

export const isGlob = (path: string): boolean => /[*?[{]/.test(path);

/** The folder in which all paths are that a glob matches. */
export function baseOf(glob: string): string {
  const plain = glob.slice(0, glob.search(/[*?[{]/));
  return plain.slice(0, plain.lastIndexOf('/')) || '/';
}

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** The beginning of every path of the folder that a rule covers; undefined where it covers no folder. */
function treeOf(rule: string): string | undefined {
  const tree = rule.endsWith('/**') ? rule.slice(0, -3) || '/' : rule;
  return isGlob(tree) ? undefined : withSlash(tree);
}

/** The lowest folder that is known to hold all that a rule covers. */
const placeOf = (rule: string): string => withSlash(isGlob(rule) ? baseOf(rule) : rule);

/** Whether everything that `inner` covers is covered by `outer` as well, as far as that can be known. */
export function covers(outer: string, inner: string): boolean {
  const tree = treeOf(outer);
  return tree === undefined ? outer === inner : placeOf(inner).startsWith(tree);
}

/** The sign behind the slash: a folder's paths are in order before the folder's name with it. */
const behindSlash = '0';

/** Rules in the order of their places, so that those of a folder lie side by side: each text is compared a few times only. */
export class RuleSet {
  readonly rules: readonly Boundary[];
  readonly #trees: readonly (string | undefined)[];
  readonly #placed: readonly { readonly place: string; readonly at: number }[];
  readonly #byPath: ReadonlyMap<string, readonly number[]>;

  constructor(rules: readonly Boundary[]) {
    this.rules = rules;
    this.#trees = rules.map(({ path }) => treeOf(path));
    this.#placed = rules
      .map(({ path }, at) => ({ place: placeOf(path), at }))
      .toSorted((a, b) => (a.place === b.place ? 0 : a.place < b.place ? -1 : 1));
    this.#byPath = Map.groupBy(rules.keys(), (at) => this.pathAt(at));
  }

  pathAt(at: number): string {
    return this.rules[at]?.path ?? '';
  }

  /** For each rule here the others that it covers, by their indexes. */
  covered(others: RuleSet): readonly (readonly number[])[] {
    return this.rules.map(({ path }, at) => {
      const tree = this.#trees[at];
      return tree === undefined ? (others.#byPath.get(path) ?? []) : others.#within(tree);
    });
  }

  #within(tree: string): readonly number[] {
    const from = this.#firstFrom(tree);
    return this.#placed.slice(from, this.#firstFrom(tree.slice(0, -1) + behindSlash)).map(({ at }) => at);
  }

  #firstFrom(text: string): number {
    let [low, high] = [0, this.#placed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#placed[middle]?.place ?? '') < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** As many as `runner fs` takes in one request. */
const boundariesMax = 1_000;

/**
 * The rules for what one of some and one of the others both cover. Where two overlap in a way that is no single rule, there
 * is none. The work grows with the rules and their texts, not with each text for each pair.
 */
export function overlaps(some: RuleSet, others: RuleSet): readonly Boundary[] {
  const found = new Map<string, boolean>();
  for (const [at, shared] of sharedBy(some, others).entries()) {
    for (const [other, path] of [...shared].toSorted(([a], [b]) => a - b)) {
      const isWrite = some.rules[at]?.write === true && others.rules[other]?.write === true;
      found.set(path, found.get(path) === true || isWrite);
    }
  }
  return [...found].slice(0, boundariesMax).map(([path, write]) => ({ path, write }));
}

/** For each of some rules the path of the narrower one of it and another, by the other's index. */
function sharedBy(some: RuleSet, others: RuleSet): readonly ReadonlyMap<number, string>[] {
  const shared = some.rules.map(() => new Map<number, string>());
  for (const [other, ones] of others.covered(some).entries()) {
    for (const one of ones) shared[one]?.set(other, some.pathAt(one));
  }
  // The other one counts where two cover each other.
  for (const [one, inner] of some.covered(others).entries()) {
    for (const other of inner) shared[one]?.set(other, others.pathAt(other));
  }
  return shared;
}

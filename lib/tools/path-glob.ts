import { memoize } from '../memo.ts';

/** The remaining work for questions about rules of paths, in characters of rules and states that are looked at. Several share one, so that together they end. */
export interface GlobWork {
  left: number;
}

/**
 * Enough for hundreds of usual rules and paths, and some 20 ms of the event loop. A tenant writes rules and paths:
 * a hundred rules of five hundred stars would hold a replica up for half a minute.
 */
export const globWork = (): GlobWork => ({ left: 500_000 });

/** Takes a part of the work; false where it is used up. */
export function spend(work: GlobWork, part: number): boolean {
  work.left -= part;
  return work.left >= 0;
}

/** A sign for itself; `one`: a sign within a name; `name`: any part of one; `all`: any text; `folders`: none or whole folders; `rest`: the folder itself and all in it. */
type Piece =
  | { readonly kind: 'sign'; readonly sign: string }
  | { readonly kind: 'one' | 'name' | 'all' | 'folders' | 'rest' };

const wildcards: readonly (readonly [glob: string, pieces: readonly Piece[]])[] = [
  ['/**/', [{ kind: 'sign', sign: '/' }, { kind: 'folders' }]],
  ['**/', [{ kind: 'folders' }]],
  ['**', [{ kind: 'all' }]],
  ['*', [{ kind: 'name' }]],
  ['?', [{ kind: 'one' }]],
];

const piecesOf = memoize({ keys: 1_000, length: 262_144 }, (glob: string): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (let at = 0; at < glob.length; ) {
    if (glob.length - at === 3 && glob.endsWith('/**')) return [...pieces, { kind: 'rest' }];
    const wildcard = wildcards.find(([start]) => glob.startsWith(start, at));
    const sign = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    pieces.push(...(wildcard?.[1] ?? [{ kind: 'sign', sign }]));
    at += (wildcard?.[0] ?? sign).length;
  }
  return pieces;
});

/**
 * Whether a glob of absolute paths matches a text: `*` and `?` stay within a name, `**` does not. Sets and choices are not
 * known here. Undefined where the work is used up: the caller then takes the answer that permits less.
 */
export function matchesGlob(glob: string, text: string, work: GlobWork): boolean | undefined {
  if (!spend(work, glob.length)) return undefined;
  const places = new Places(piecesOf(glob));
  for (const sign of text) {
    if (places.count === 0) return false;
    if (!spend(work, places.count)) return undefined;
    places.read(sign);
  }
  return places.isAtEnd;
}

/** Effects of a sign on a piece: it stays before it, continues within it, or has passed it; several may hold. */
interface Move {
  readonly stays?: boolean;
  readonly continues?: boolean;
  readonly passes?: boolean;
}

const moves: Readonly<Record<Exclude<Piece['kind'], 'sign'>, (isSlash: boolean, hasBegun: boolean) => Move>> = {
  one: (isSlash) => ({ passes: !isSlash }),
  name: (isSlash) => ({ stays: !isSlash }),
  all: () => ({ stays: true }),
  folders: (isSlash) => ({ continues: true, passes: isSlash }),
  rest: (isSlash, hasBegun) => ({ continues: hasBegun || isSlash }),
};

const skipped: ReadonlySet<Piece['kind']> = new Set(['name', 'all', 'folders', 'rest']);

/**
 * The places in a glob at which a text may be. Each is twice the index of the piece that comes next, and one more
 * within a piece that has begun (`folders`, `rest`). All are followed at once, so that no text is read twice.
 */
class Places {
  readonly #pieces: readonly Piece[];
  /** The number of signs that were read when a place was last entered, plus one. */
  readonly #entered: Uint32Array;
  #signs = 1;
  #now: number[] = [];
  #next: number[] = [];

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
    this.#entered = new Uint32Array(2 * (pieces.length + 1));
    this.#enter(0);
    this.#turn();
  }

  get count(): number {
    return this.#now.length;
  }

  get isAtEnd(): boolean {
    const last = this.#pieces.length;
    const hasRest = this.#pieces[last - 1]?.kind === 'rest';
    return this.#now.some((place) => place === 2 * last || (hasRest && place === 2 * last - 1));
  }

  read(sign: string): void {
    for (const place of this.#now) this.#readAt(place, sign);
    this.#turn();
  }

  #turn(): void {
    [this.#now, this.#next] = [this.#next, this.#now];
    this.#next.length = 0;
    this.#signs += 1;
  }

  /** The place before a piece, and those behind it that nothing has to be read for. */
  #enter(index: number): void {
    for (let at = index; this.#add(2 * at); at++) {
      if (!skipped.has(this.#pieces[at]?.kind ?? 'sign')) return;
    }
  }

  #add(place: number): boolean {
    if (this.#entered[place] === this.#signs) return false;
    this.#entered[place] = this.#signs;
    this.#next.push(place);
    return true;
  }

  #readAt(place: number, sign: string): void {
    const at = place >> 1;
    const piece = this.#pieces[at];
    if (piece === undefined) return;
    if (piece.kind === 'sign') {
      if (sign === piece.sign) this.#enter(at + 1);
      return;
    }
    const { stays, continues, passes } = moves[piece.kind](sign === '/', place > 2 * at);
    if (stays) this.#enter(at);
    if (continues) this.#add(2 * at + 1);
    if (passes) this.#enter(at + 1);
  }
}

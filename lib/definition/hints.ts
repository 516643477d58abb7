import { limits } from '../../crds/limits.ts';
import { isSimilar } from '../../crds/similar-name.ts';

/** Names that are looked at for one hint. */
const namesMax = 200;

/** Probable meanings of mistyped names of one definition: as many hints as are shown, and no more work than that. */
export class Hints {
  #left: number = limits.warnings;

  /** One of the names that `written` is probably meant to be; undefined where none is, or enough was looked for. */
  meant(names: () => Iterable<string>, written: string): string | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    let looked = 0;
    for (const name of names()) {
      if (isSimilar(name, written)) return name;
      looked += 1;
      if (looked === namesMax) return undefined;
    }
    return undefined;
  }
}

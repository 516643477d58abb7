/** Bytes of the beginning of a text by which its places are looked for. A longer one is looked for no faster. */
const anchorLength = 8;
/** Places that hold the beginning and not the whole, behind which the search compares no byte twice. */
const vainMost = 64;

/**
 * Looks for a text of 8 bytes or more in another one, in time linear in both. `Buffer.indexOf` alone takes seconds for some
 * long texts in 10 MiB: who makes the text of a credential may make the answer as well.
 */
export class Search {
  readonly #text: Buffer;
  readonly #wanted: Buffer;
  readonly #anchor: Buffer;
  #vain = 0;
  #borders: Int32Array | undefined;

  constructor(text: Buffer, wanted: Buffer) {
    this.#text = text;
    this.#wanted = wanted;
    this.#anchor = wanted.subarray(0, anchorLength);
  }

  /** The first place from `from` on; below zero: there is none. */
  next(from: number): number {
    for (let at = from; this.#vain < vainMost; at += 1) {
      at = this.#text.indexOf(this.#anchor, at);
      if (at < 0 || this.#text.length - at < this.#wanted.length) return -1;
      if (this.#wanted.equals(this.#text.subarray(at, at + this.#wanted.length))) return at;
      this.#vain += 1;
    }
    return this.#stepwise(from);
  }

  /** By Knuth, Morris and Pratt. */
  #stepwise(from: number): number {
    const [text, wanted] = [this.#text, this.#wanted];
    const borders = (this.#borders ??= bordersOf(wanted));
    let fits = 0;
    for (let at = from; at < text.length; at += 1) {
      const byte = text[at];
      while (fits > 0 && wanted[fits] !== byte) fits = borders[fits - 1] ?? 0;
      if (wanted[fits] === byte) fits += 1;
      if (fits === wanted.length) return at + 1 - fits;
    }
    return -1;
  }
}

/** The length of the longest beginning of a text that each longer beginning ends with. */
function bordersOf(text: Buffer): Int32Array {
  const borders = new Int32Array(text.length);
  for (let at = 1, fits = 0; at < text.length; at += 1) {
    while (fits > 0 && text[fits] !== text[at]) fits = borders[fits - 1] ?? 0;
    if (text[fits] === text[at]) fits += 1;
    borders[at] = fits;
  }
  return borders;
}

/** Bytes of the beginning of a text by which its places are looked for. A longer one is looked for no faster. */
const anchorLength = 8;
/** Places that hold the beginning and not the whole, behind which the search compares no byte twice. */
const vainMost = 64;

/** Bytes that are compared one by one before others have a turn; they take about ten milliseconds. */
const bytesPerTurn = 1_048_576;

/**
 * Places of a text of 8 bytes or more in another one, which do not overlap, in time linear in both. Undefined between
 * them is a pause, where other work may have its turn. `Buffer.indexOf` alone takes seconds for some long texts in 10
 * MiB: the maker of a credential may make the answer as well.
 */
export function* placesOf(text: Buffer, wanted: Buffer): Generator<number | undefined> {
  const anchor = wanted.subarray(0, anchorLength);
  let vain = 0;
  for (let at = 0; vain < vainMost; ) {
    const found = text.indexOf(anchor, at);
    if (found < 0 || text.length - found < wanted.length) return;
    const isWhole = wanted.equals(text.subarray(found, found + wanted.length));
    if (isWhole) yield found;
    else vain += 1;
    at = found + (isWhole ? wanted.length : 1);
    if (vain === vainMost) yield* stepwise(text, wanted, at);
  }
}

/** By Knuth, Morris and Pratt, from a place on. */
function* stepwise(text: Buffer, wanted: Buffer, from: number): Generator<number | undefined> {
  const borders = bordersOf(wanted);
  let fits = 0;
  for (let turn = from; turn < text.length; turn += bytesPerTurn) {
    const until = Math.min(text.length, turn + bytesPerTurn);
    for (let at = turn; at < until; at += 1) {
      const byte = text[at];
      while (fits > 0 && wanted[fits] !== byte) fits = borders[fits - 1] ?? 0;
      if (wanted[fits] === byte) fits += 1;
      if (fits < wanted.length) continue;
      yield at + 1 - fits;
      fits = 0;
    }
    yield undefined;
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

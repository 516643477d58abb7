const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, '');

const reversed = (text: string): string => Array.from(text).toReversed().join('');

/** Names that are looked at for one hint: a tenant may have many. */
export const similarNamesMax = 200;

/** The first of the known names that is probably meant, among as many as are looked at. */
export function similarName(written: string, known: Iterable<string>): string | undefined {
  let looked = 0;
  for (const name of known) {
    if (isSimilar(name, written)) return name;
    looked += 1;
    if (looked === similarNamesMax) break;
  }
  return undefined;
}

/** The name that is probably meant, as the end of a sentence; empty where none is near. */
export function meantBy(written: string, known: Iterable<string>): string {
  const name = similarName(written, known);
  return name === undefined ? '' : `; did you mean ${name}?`;
}

/** Whether a name is probably another one mistyped: equal but for case, dashes and underscores, or one slip of a key. */
export function isSimilar(known: string, written: string): boolean {
  // Texts of any length are compared with names; a name has few dashes to be left out.
  if (written.length > 2 * known.length + 2) return false;
  const [a, b] = [plain(known), plain(written)];
  return a === b || (a.length >= 4 && Math.abs(a.length - b.length) <= 1 && isOneSlip(a, b));
}

/** One letter added, left out or changed, or two neighbours swapped. */
function isOneSlip(a: string, b: string): boolean {
  const start = sharedLength(a, b);
  const end = sharedLength(reversed(a.slice(start)), reversed(b.slice(start)));
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  const isSwap = left.length === 2 && left === reversed(right);
  return isSwap || (left.length <= 1 && right.length <= 1);
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Bytes of heap that V8 takes for each part of parsed JSON, measured and rounded up (design §11). */
const price = { container: 64, member: 24, string: 24, number: 16 } as const;

/** One character from here on makes V8 keep two bytes for each character of the text. */
const wide = /[\u0100-\uffff]/;

/** Bytes of heap that a text takes that is held once. */
export const textBytes = (text: string): number => price.string + lengthBytes(text);

const lengthBytes = (text: string): number => (isWide(text) ? text.length * 2 : text.length);

/** Most texts are short, and a search by a pattern takes longer to begin than they take to be looked at. */
const shortLength = 32;

function isWide(text: string): boolean {
  if (text.length > shortLength) return wide.test(text);
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0xff) return true;
  return false;
}

/**
 * Bytes of heap that a JSON value takes, roughly. Counting ends at `enough`: a value beyond it costs no more to weigh than
 * one of that size.
 */
export function heapBytes(value: unknown, enough: number): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && bytes < enough) {
    const part = open.pop();
    if (typeof part === 'string') bytes += textBytes(part);
    else if (typeof part !== 'object' || part === null) bytes += price.number;
    else bytes += price.container + openContainer(part, open);
  }
  return bytes;
}

/** Leaves the members for later and gives what their places and names take. */
function openContainer(part: object, open: unknown[]): number {
  let bytes = 0;
  if (Array.isArray(part)) {
    for (const item of part) open.push(item);
    return part.length * price.member;
  }
  // The pairs of `Object.entries` take twice the time where an object has many thousand members.
  const members = part as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members)) {
    open.push(members[key]);
    bytes += price.member + lengthBytes(key);
  }
  return bytes;
}

/**
 * Characters of the JSON of a value at least, without making it: escapes and long numbers count as less than they take.
 * Counting ends at `enough`.
 */
export function jsonLength(value: unknown, enough: number): number {
  let length = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && length < enough) {
    const part = open.pop();
    if (typeof part === 'string') length += part.length + 2;
    else if (typeof part !== 'object' || part === null) length += 1;
    else length += openContainer(part, open);
  }
  return length;
}

/** Leaves the members for later; the length of brackets, commas and names. */
function openContainer(part: object, open: unknown[]): number {
  if (Array.isArray(part)) {
    for (const item of part) open.push(item);
    return part.length + 1;
  }
  let length = 2;
  for (const [key, member] of Object.entries(part)) {
    if (member === undefined) continue;
    open.push(member);
    length += key.length + 3;
  }
  return length;
}

/** Bytes of heap that V8 takes for each part of parsed JSON, measured and rounded up (design §11). */
const price = { container: 64, member: 24, string: 24, number: 16 } as const;

/**
 * Bytes of heap that a JSON value takes, roughly. Counting ends at `enough`: a value beyond it costs no more to weigh than
 * one of that size.
 */
export function heapBytes(value: unknown, enough: number): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && bytes < enough) {
    const part = open.pop();
    if (typeof part === 'string') bytes += price.string + part.length;
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
  for (const [key, member] of Object.entries(part)) {
    open.push(member);
    bytes += price.member + key.length;
  }
  return bytes;
}

/** Lists in lists, of so many levels. */
export function nested(levels: number): never[] {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value as never[];
}

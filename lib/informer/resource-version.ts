/**
 * Orders two resourceVersions of one kind: negative when `a` is older, 0 when equal, positive when newer.
 * They are decimal numbers of any length without leading zeros, so length decides before digits do, and no
 * precision is lost. A missing version is older than any other.
 */
export function compareResourceVersions(a: string | undefined, b: string | undefined): number {
  const left = a ?? '';
  const right = b ?? '';
  if (left.length !== right.length) return left.length - right.length;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

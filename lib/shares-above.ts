/**
 * The limit of each owner above its share, in bytes or messages, where all of them together take more than `total`.
 * The level is that of water poured into the owners: an owner that takes less keeps everything, and all above the
 * level come down to it. No number of records of one tenant takes room from a tenant that has less than an equal share.
 */
export function sharesAbove(usage: ReadonlyMap<string, number>, total: number): ReadonlyMap<string, number> {
  const byUse = [...usage].toSorted(([, a], [, b]) => a - b);
  let left = total;
  for (const [index, [, bytes]] of byUse.entries()) {
    const level = left / (byUse.length - index);
    if (bytes > level) return new Map(byUse.slice(index).map(([owner]) => [owner, Math.floor(level)]));
    left -= bytes;
  }
  return new Map();
}

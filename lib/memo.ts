/** How much is remembered at most. */
interface MemoBounds {
  readonly keys: number;
  /** Of all keys together, in UTF-16 units, with what their results weigh. */
  readonly length: number;
}

/** What a result takes beside its key. */
type Weigh<Result> = (result: Result) => number;

/**
 * Remembers the results of a pure function for the keys used last. Nothing but speed can be observed of it. A call that
 * throws is not remembered. `weigh` is for results that may be much larger than the text that they are made from; it
 * counts in units of that text.
 */
export function memoize<Result>(
  bounds: MemoBounds,
  compute: (key: string) => Result,
  weigh: Weigh<Result> = () => 0,
): (key: string) => Result {
  const known = new Map<string, { readonly result: Result; readonly weight: number }>();
  let total = 0;
  return (key) => {
    const held = known.get(key);
    if (held !== undefined) {
      known.delete(key);
      known.set(key, held);
      return held.result;
    }
    const result = compute(key);
    const added = { result, weight: key.length + weigh(result) };
    known.set(key, added);
    total += added.weight;
    for (const [oldest, { weight }] of known) {
      if (known.size <= bounds.keys && total <= bounds.length) break;
      known.delete(oldest);
      total -= weight;
    }
    return result;
  };
}

import { LRUCache } from 'lru-cache';

/** How much is remembered at most. */
interface MemoBounds {
  readonly keys: number;
  /** Size of all keys together, in UTF-16 units, with the weight of their results. */
  readonly length: number;
}

/** Weight of a result beside its key. */
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
  const known = new LRUCache<string, { readonly result: Result }>({
    max: bounds.keys,
    maxSize: bounds.length,
    // The cache takes no entry without a size.
    sizeCalculation: ({ result }, key) => Math.max(1, Math.ceil(key.length + weigh(result))),
  });
  return (key) => {
    const held = known.get(key);
    if (held !== undefined) return held.result;
    const result = compute(key);
    known.set(key, { result });
    return result;
  };
}

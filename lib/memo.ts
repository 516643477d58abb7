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

  function remember(key: string, result: Result): void {
    const weight = key.length + weigh(result);
    known.set(key, { result, weight });
    total += weight;
    for (const oldest of known.keys()) {
      if (known.size <= bounds.keys && total <= bounds.length) return;
      forget(oldest);
    }
  }
  function forget(key: string): void {
    total -= known.get(key)?.weight ?? 0;
    known.delete(key);
  }

  return (key) => {
    const found = known.get(key);
    const result = found === undefined ? compute(key) : found.result;
    forget(key);
    remember(key, result);
    return result;
  };
}

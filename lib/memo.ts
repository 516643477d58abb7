/** How much is remembered at most. */
export interface MemoBounds {
  readonly keys: number;
  /** Of all keys together, in UTF-16 units: what a result takes grows with the text that it was made from. */
  readonly length: number;
}

/**
 * Remembers the results of a pure function for the keys used last. Nothing but speed can be observed of it. A call that
 * throws is not remembered.
 */
export function memoize<Result>(bounds: MemoBounds, compute: (key: string) => Result): (key: string) => Result {
  const known = new Map<string, Result>();
  let length = 0;

  function remember(key: string, result: Result): void {
    known.set(key, result);
    length += key.length;
    for (const oldest of known.keys()) {
      if (known.size <= bounds.keys && length <= bounds.length) return;
      forget(oldest);
    }
  }
  function forget(key: string): void {
    if (known.delete(key)) length -= key.length;
  }

  return (key) => {
    const found = known.get(key);
    const result = found !== undefined || known.has(key) ? (found as Result) : compute(key);
    forget(key);
    remember(key, result);
    return result;
  };
}

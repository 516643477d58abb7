/**
 * Remembers the results of a pure function for the `capacity` keys used last. Nothing but speed can be observed of it.
 * A call that throws is not remembered.
 */
export function memoize<Result>(capacity: number, compute: (key: string) => Result): (key: string) => Result {
  const known = new Map<string, Result>();
  return (key) => {
    const found = known.get(key);
    const result = found !== undefined || known.has(key) ? (found as Result) : compute(key);
    // A Map iterates in order of insertion, so taking the key out and in again makes it the youngest.
    known.delete(key);
    known.set(key, result);
    if (known.size > capacity) known.delete(known.keys().next().value ?? '');
    return result;
  };
}

import { BoundedMap } from './bounded-map.ts';

/**
 * Remembers the results of a pure function for the `capacity` keys used last. Nothing but speed can be observed of it.
 * A call that throws is not remembered.
 */
export function memoize<Result>(capacity: number, compute: (key: string) => Result): (key: string) => Result {
  const known = new BoundedMap<string, Result>(capacity);
  return (key) => {
    const found = known.get(key);
    const result = found !== undefined || known.has(key) ? (found as Result) : compute(key);
    known.set(key, result);
    return result;
  };
}

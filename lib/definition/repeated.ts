/** Indexes of the values that occur earlier in the list already. */
export function repeatedIndexes(values: readonly string[]): readonly number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

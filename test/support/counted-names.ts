/** A list of names that counts how often one of them is read. */
export function countedNames(names: readonly string[]): { readonly names: string[]; reads(): number } {
  let reads = 0;
  const watched = new Proxy([...names], {
    get(list, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
      return Reflect.get(list, key, receiver);
    },
  });
  return { names: watched, reads: () => reads };
}

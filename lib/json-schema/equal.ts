import { schemaPrices } from './limits.ts';

/**
 * A text that two JSON values share exactly when they are equal: keys sorted, numbers by value. Comparing and finding
 * duplicates by it is linear, where comparing each with each would be quadratic. `spend` takes units of work.
 */
export function canonical(value: unknown, spend: (units: number) => void): string {
  spend(schemaPrices.canonical);
  if (typeof value === 'string') spend(value.length * schemaPrices.character);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const text = Array.isArray(value) ? canonicalList(value, spend) : canonicalObject(value, spend);
  // Each level of nesting writes the texts within it once more.
  spend(text.length * schemaPrices.character);
  return text;
}

const canonicalList = (list: readonly unknown[], spend: (units: number) => void): string =>
  `[${list.map((item) => canonical(item, spend)).join(',')}]`;

function canonicalObject(object: object, spend: (units: number) => void): string {
  const entries = Object.entries(object);
  const rounds = Math.ceil(Math.log2(entries.length + 1));
  // Keys that begin alike are compared to their ends in each round of the sort.
  for (const [key] of entries) spend(schemaPrices.entry + key.length * rounds * schemaPrices.character);
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, spend)}`).join(',')}}`;
}

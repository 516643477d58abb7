import { schemaPrices } from './limits.ts';

/**
 * A text that two JSON values share exactly when they are equal: keys sorted, numbers by value. Comparing and finding
 * duplicates by it is linear, where comparing each with each would be quadratic. `spend` takes units of work.
 */
export function canonical(value: unknown, spend: (units: number) => void): string {
  spend(schemaPrices.canonical);
  if (typeof value === 'string') spend(value.length * schemaPrices.character);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, spend)).join(',')}]`;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, spend)}`).join(',')}}`;
}

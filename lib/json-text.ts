import { definitionLevels } from './nesting.ts';

/**
 * `JSON.stringify` for what is stored in the cluster: the API server takes values of 10,000 levels from kubectl, of which no process
 * can write more than some 4,500. Levels beyond those of any accepted definition are then cut, and a word
 * has their place, so that the object and the list that it is in can be read.
 */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(withoutDepth(value, definitionLevels));
  }
}

const cut = `(cut: more than ${definitionLevels} levels)`;

function withoutDepth(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  if (levels === 0) return cut;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutDepth(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutDepth(member, levels - 1)]));
}

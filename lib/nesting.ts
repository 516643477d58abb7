import { limits } from '../crds/limits.ts';

export const tooDeep = `is nested deeper than ${limits.jsonDepth} levels`;

/** Whether objects and lists stand in each other deeper than the API takes them in JSON. */
export function isTooDeep(value: unknown, levels: number = limits.jsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => isTooDeep(child, levels - 1));
}

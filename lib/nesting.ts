import { limits } from '../crds/limits.ts';
import { AppError } from './errors.ts';

export const tooDeep = `is nested deeper than ${limits.jsonDepth} levels`;

/** More levels than any definition has that is accepted: the deepest hold a JSON Schema or a constant near their top. */
export const definitionLevels = 2 * limits.jsonDepth;

/** A JSON value is nested deeper than is taken anywhere; the message names the value. */
export class NestedTooDeep extends AppError {
  override readonly name = 'NestedTooDeep';

  constructor(what: string) {
    super('limit_exceeded', `${what} ${tooDeep}`, { reason: 'NestedTooDeep' });
  }
}

/** Whether objects and lists are nested deeper than JSON may be. Makes no list of an object's members. */
export function isTooDeep(value: unknown, levels: number = limits.jsonDepth): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isTooDeep(item, levels - 1)) return true;
    return false;
  }
  for (const key of Object.keys(value)) {
    if (isTooDeep((value as Readonly<Record<string, unknown>>)[key], levels - 1)) return true;
  }
  return false;
}

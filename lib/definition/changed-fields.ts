import { formatPlace, type Place } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';
import { canonicalJson } from './canonical.ts';

/** Fields that a sentence names; the others are counted. */
const shown = 5;
/** States and other named things are looked into this far below the spec: `spec.states.build.image`. */
const depth = 3;

/** Which fields of a spec differ, as a sentence names them: `spec.description, spec.states.build.image and 2 more`. */
export function changedFields(before: object, after: object): string {
  const fields = differences({ ...before }, { ...after }, ['spec']).map(formatPlace);
  const more = fields.length - shown;
  return [fields.slice(0, shown).join(', '), ...(more > 0 ? [`and ${more} more`] : [])].join(' ');
}

function differences(before: unknown, after: unknown, at: Place): Place[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after) || at.length > depth) return [at];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differences(before[key], after[key], [...at, key]));
}

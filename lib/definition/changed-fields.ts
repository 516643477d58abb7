import { limits } from '../../crds/limits.ts';
import { formatPlace, type Place } from '../../crds/problem.ts';
import { isJsonObject } from '../json-object.ts';
import { sameJson } from '../same-json.ts';

/** Fields that a sentence names; the others are counted. */
const shown = 5;
/** States and other named things are looked into this far below the spec: `spec.states.build.image`. */
const depth = 3;

/**
 * Which fields of a spec differ, as a sentence names them: `spec.description, spec.states.build.image and 2 more`. Each
 * value is looked at once.
 */
export function changedFields(before: object, after: object): string {
  const places: Place[] = [];
  let more = 0;
  for (const place of differences({ ...before }, { ...after }, ['spec'])) {
    if (places.length < shown) places.push(place);
    else more += 1;
  }
  return [places.map(formatPlace).join(', '), ...(more > 0 ? [`and ${more} more`] : [])].join(' ');
}

function* differences(before: unknown, after: unknown, at: Place): Generator<Place> {
  if (!isJsonObject(before) || !isJsonObject(after) || at.length > depth || isWide(before)) {
    if (!sameJson(before, after)) yield at;
    return;
  }
  for (const key of Object.keys(before)) yield* differences(before[key], after[key], [...at, key]);
  for (const key of Object.keys(after))
    if (!Object.hasOwn(before, key)) yield* differences(undefined, after[key], [...at, key]);
}

/** A map of more keys than any that the schema knows is data of its author, and counts as one field. */
const isWide = (value: object): boolean => Object.keys(value).length > limits.mapEntries;

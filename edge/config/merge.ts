import { isJsonObject } from '../../lib/json-object.ts';

/**
 * A JSON merge patch (RFC 7396) that does what two do, one after the other: members that are null stay, because they
 * take away what the configuration below has.
 */
export function joinPatches(first: unknown, second: unknown): unknown {
  if (!isJsonObject(first) || !isJsonObject(second)) return second;
  const joined = new Map(Object.entries(first));
  for (const [name, value] of Object.entries(second)) joined.set(name, joinPatches(joined.get(name), value));
  return Object.fromEntries(joined);
}

/** The value after a JSON merge patch (RFC 7396). Neither is changed. */
export function applyPatch(value: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const members = new Map(isJsonObject(value) ? Object.entries(value) : []);
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) members.delete(name);
    else members.set(name, applyPatch(members.get(name), change));
  }
  return Object.fromEntries(members);
}

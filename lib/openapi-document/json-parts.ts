import { pointerKeys } from '../../crds/json-pointer.ts';
import { ownMember } from '../own-member.ts';

export type JsonMap = Readonly<Record<string, unknown>>;

/** A JSON object as a map; undefined for anything else. */
export const mapOf = (value: unknown): JsonMap | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : undefined;

export const listOf = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The value that a local reference, as `#/components/pathItems/x`, leads to; undefined where there is none. */
export function valueAt(root: unknown, ref: string): unknown {
  let value = root;
  for (const key of pointerKeys(decoded(ref.slice(1)))) {
    const list = listOf(value);
    value = list === undefined ? ownMember(mapOf(value), key) : list[Number(key)];
  }
  return value;
}

/** A fragment is percent-encoded; one that is not well encoded is taken as it is. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

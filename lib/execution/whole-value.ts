import { pointerKeys } from '../../crds/json-pointer.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import { valueOf } from '../output-store/blob-value.ts';

/** Reads one blob of an execution from the output store. */
export type BlobReader = (blob: Pick<BlobRef, 'ref' | 'bytes' | 'stored_by'>) => Promise<Uint8Array>;

/** The whole value: its part in status, with every part of the output store put in its place. */
export async function wholeValue(stored: StoredValue, readBlob: BlobReader): Promise<Json> {
  const parts = new Map<string, Json>();
  for (const part of stored.refs ?? []) parts.set(part.path, await blobValue(part, readBlob));
  return fill(stored, parts);
}

/** A copy of the part in status, with these parts, by path, put in their places. */
export function fill(stored: StoredValue, parts: ReadonlyMap<string, Json>): Json {
  let root: Json = structuredClone(stored.value ?? null);
  for (const { path } of stored.refs ?? []) {
    const part = parts.get(path);
    if (part !== undefined) root = placed(root, path, part);
  }
  return root;
}

/** A blob as the JSON value that it encodes. */
export async function blobValue(blob: BlobRef, readBlob: BlobReader): Promise<Json> {
  return valueOf(await readBlob(blob), blob);
}

/** The value beside a part, under the part's own key and `suffix`. */
export function siblingOf(root: Json, path: string, suffix: string): Json | undefined {
  const keys = pointerKeys(path);
  const last = keys.pop();
  return last === undefined ? undefined : childOf(holderOf(root, keys), `${last}${suffix}`);
}

/** A pointer whose place is not there changes nothing. */
function placed(root: Json, path: string, value: Json): Json {
  const keys = pointerKeys(path);
  const last = keys.pop();
  if (last === undefined) return value;
  const holder = holderOf(root, keys);
  if (typeof holder !== 'object' || holder === null) return root;
  Object.defineProperty(holder, last, { value, writable: true, enumerable: true, configurable: true });
  return root;
}

function holderOf(root: Json, keys: readonly string[]): Json | undefined {
  let holder: Json | undefined = root;
  for (const key of keys) holder = childOf(holder, key);
  return holder;
}

/** One step down into a value; only its own keys count. */
export function childOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, Json>)[key];
}

import type { Json } from '../../crds/schema/parts.ts';
import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';

/** Reads one blob of an execution from the output store. */
export type BlobReader = (ref: string) => Promise<Uint8Array>;

/** The whole value: what stands in status, with every part that the output store holds put in its place. */
export async function wholeValue(stored: StoredValue, readBlob: BlobReader): Promise<Json> {
  let root: Json = structuredClone(stored.value ?? null);
  for (const part of stored.refs ?? []) root = placed(root, part.path, await blobValue(part, readBlob));
  return root;
}

/** A blob as the JSON value it stands for. */
export async function blobValue({ ref, encoding }: BlobRef, readBlob: BlobReader): Promise<Json> {
  const text = Buffer.from(await readBlob(ref)).toString('utf8');
  return encoding === 'text' ? text : (JSON.parse(text) as Json);
}

/** The keys of a JSON pointer. */
export function pointerKeys(path: string): string[] {
  const keys = path === '' ? [] : path.slice(1).split('/');
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A pointer whose place is not there changes nothing. */
function placed(root: Json, path: string, value: Json): Json {
  const keys = pointerKeys(path);
  const last = keys.pop();
  if (last === undefined) return value;
  let holder: Json | undefined = root;
  for (const key of keys) holder = childOf(holder, key);
  if (typeof holder !== 'object' || holder === null) return root;
  Object.defineProperty(holder, last, { value, writable: true, enumerable: true, configurable: true });
  return root;
}

/** One step down into a value; only its own keys count. */
export function childOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, Json>)[key];
}

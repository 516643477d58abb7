import { limits } from '../../crds/limits.ts';
import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import { LargeValue } from '../template/large-value.ts';
import { type Blob, createBlob, locatorText } from './blob.ts';

/** Refs are cheaper than short strings are; below this size a string is never moved out alone. */
const leastStringBytes = 256;

/** A value that fits status, and the blobs that hold what did not fit. */
export interface Shrunk {
  readonly stored: StoredValue;
  readonly blobs: readonly Blob[];
}

/**
 * Makes a JSON value small enough for status: first its longest strings move to the store, then, where that is not
 * enough, the whole value (design §5). `limit` is in bytes of JSON.
 */
export function shrink(value: unknown, limit: number = limits.inlineValueBytes): Shrunk {
  const json = JSON.stringify(value) ?? 'null';
  const size = Buffer.byteLength(json);
  if (size <= limit) return { stored: { value: value as StoredValue['value'] }, blobs: [] };
  if (typeof value === 'string') return whole(createBlob(Buffer.from(value)), 'text');
  const moved = moveStrings(value, size - limit);
  const rest = Buffer.byteLength(JSON.stringify(moved.stored.value ?? null));
  return rest <= limit ? moved : whole(createBlob(Buffer.from(json)), 'json');
}

/** Size of a stored value inside status, in bytes of JSON. */
export const inlineBytes = (stored: StoredValue): number => Buffer.byteLength(JSON.stringify(stored));

/** The value with a LargeValue at each part that stands in the store of `executionUid`. */
export function open(stored: StoredValue, executionUid: string): unknown {
  let root: unknown = stored.value === undefined ? null : stored.value;
  if (stored.refs === undefined || stored.refs.length === 0) return root;
  root = structuredClone(root);
  for (const { path, ref, bytes, encoding } of stored.refs) {
    root = replaceAt(root, pointerKeys(path), new LargeValue(locatorText({ executionUid, ref, encoding }), bytes));
  }
  return root;
}

function whole(blob: Blob, encoding: BlobRef['encoding']): Shrunk {
  const ref = { path: '', ref: blob.ref, bytes: blob.data.byteLength, encoding };
  return { stored: { refs: [ref] }, blobs: [blob] };
}

interface Leaf {
  readonly keys: readonly string[];
  readonly text: string;
}

function moveStrings(value: unknown, excess: number): Shrunk {
  const leaves = stringLeaves(value, []).filter((leaf) => leaf.text.length >= leastStringBytes);
  leaves.sort((a, b) => b.text.length - a.text.length);
  let rest = structuredClone(value);
  const refs: BlobRef[] = [];
  const blobs = new Map<string, Blob>();
  let left = excess;
  for (const { keys, text } of leaves) {
    if (left <= 0) break;
    const blob = createBlob(Buffer.from(text));
    blobs.set(blob.ref, blob);
    refs.push({ path: pointer(keys), ref: blob.ref, bytes: blob.data.byteLength, encoding: 'text' });
    rest = replaceAt(rest, keys, null);
    left -= blob.data.byteLength;
  }
  return { stored: { value: rest as StoredValue['value'], refs }, blobs: [...blobs.values()] };
}

function stringLeaves(value: unknown, keys: readonly string[]): Leaf[] {
  if (typeof value === 'string') return [{ keys, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => stringLeaves(child, [...keys, key]));
}

function replaceAt(root: unknown, keys: readonly string[], value: unknown): unknown {
  const last = keys.at(-1);
  if (last === undefined) return value;
  let holder = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  Object.defineProperty(holder, last, { value, writable: true, enumerable: true, configurable: true });
  return root;
}

const pointer = (keys: readonly string[]): string =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const pointerKeys = (path: string): string[] =>
  path === ''
    ? []
    : path
        .slice(1)
        .split('/')
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

import { pointerKeys, pointerOf } from '../../crds/json-pointer.ts';
import { limits } from '../../crds/limits.ts';
import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import { LargeValue } from '../template/large-value.ts';
import { type Blob, createBlob, locatorText } from './blob.ts';
import { RawText } from './raw-text.ts';

/** A reference takes more room than a short string: below this size a string is never moved out alone. */
const leastStringBytes = 256;

/** A value that fits status, and the blobs that hold what did not fit. */
export interface Shrunk {
  readonly stored: StoredValue;
  readonly blobs: readonly Blob[];
}

/**
 * Makes a JSON value small enough for status: output that is no text and then the longest strings move to the store,
 * and, where that is not enough, the whole value (design §5). `limit` is in bytes of JSON; so is `refsLimit`, of what
 * says where the parts are.
 */
export function shrink(
  value: unknown,
  limit: number = limits.inlineValueBytes,
  refsLimit: number = limits.inlineRefsBytes,
): Shrunk {
  const leaves = leavesOf(value, []);
  const [root] = leaves;
  if (leaves.every((leaf) => lengthOf(leaf) <= limit) && sizeOf(value) <= limit) {
    return { stored: { value: value as StoredValue['value'] }, blobs: [] };
  }
  if (root?.keys.length === 0) return whole(createBlob(bytesOf(root)), 'text');
  const moved = moveLeaves(value, leaves, limit);
  if (sizeOf(moved.stored.value) <= limit && fitsStatus(moved.stored.refs ?? [], refsLimit)) return moved;
  return whole(createBlob(Buffer.from(JSON.stringify(value))), 'json');
}

const fitsStatus = (refs: readonly BlobRef[], refsLimit: number): boolean =>
  refs.length <= limits.refsPerValue && sizeOf(refs) <= refsLimit;

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? 'null');

/** Size of a stored value inside status, in bytes of JSON. */
export const inlineBytes = (stored: StoredValue): number => Buffer.byteLength(JSON.stringify(stored));

/** The value with a LargeValue at each part that stands in the store of `executionUid`. */
export function open(stored: StoredValue, executionUid: string): unknown {
  let root: unknown = stored.value === undefined ? null : stored.value;
  if (stored.refs === undefined || stored.refs.length === 0) return root;
  root = structuredClone(root);
  for (const { path, ref, bytes, encoding } of stored.refs) {
    root = replaceAt(
      root,
      pointerKeys(path),
      new LargeValue(locatorText({ executionUid, ref, encoding, bytes }), bytes),
    );
  }
  return root;
}

function whole(blob: Blob, encoding: BlobRef['encoding']): Shrunk {
  const ref = { path: '', ref: blob.ref, bytes: blob.data.byteLength, encoding };
  return { stored: { refs: [ref] }, blobs: [blob] };
}

/** A string somewhere in a value. */
interface Leaf {
  readonly keys: readonly string[];
  readonly text: string | RawText;
}

const lengthOf = ({ text }: Leaf): number => (text instanceof RawText ? Number.POSITIVE_INFINITY : text.length);
const bytesOf = ({ text }: Leaf): Uint8Array => (text instanceof RawText ? text.bytes : Buffer.from(text));

function moveLeaves(value: unknown, leaves: readonly Leaf[], limit: number): Shrunk {
  const movable = leaves.filter((leaf) => lengthOf(leaf) >= leastStringBytes);
  movable.sort((a, b) => lengthOf(b) - lengthOf(a));
  const rest = copyWithout(value, new Set(movable.filter((leaf) => lengthOf(leaf) > limit).map(({ text }) => text)));
  const refs: BlobRef[] = [];
  const blobs = new Map<string | RawText, Blob>();
  for (const leaf of movable) {
    if (lengthOf(leaf) <= limit && sizeOf(rest) <= limit) break;
    const blob = blobs.get(leaf.text) ?? createBlob(bytesOf(leaf));
    blobs.set(leaf.text, blob);
    refs.push({ path: pointerOf(...leaf.keys), ref: blob.ref, bytes: blob.data.byteLength, encoding: 'text' });
    replaceAt(rest, leaf.keys, null);
  }
  return { stored: { value: rest as StoredValue['value'], refs }, blobs: [...blobs.values()] };
}

/** A copy with null in place of these strings: what is too long anyway is not copied first. */
function copyWithout(value: unknown, gone: ReadonlySet<string | RawText>): unknown {
  if (typeof value === 'string' || value instanceof RawText) return gone.has(value) ? null : value;
  if (Array.isArray(value)) return value.map((item) => copyWithout(item, gone));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, copyWithout(child, gone)]));
}

function leavesOf(value: unknown, keys: readonly string[]): Leaf[] {
  if (typeof value === 'string' || value instanceof RawText) return [{ keys, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, [...keys, key]));
}

function replaceAt(root: unknown, keys: readonly string[], value: unknown): unknown {
  const last = keys.at(-1);
  if (last === undefined) return value;
  let holder = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  Object.defineProperty(holder, last, { value, writable: true, enumerable: true, configurable: true });
  return root;
}

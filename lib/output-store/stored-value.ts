import { pointerKeys, pointerOf } from '../../crds/json-pointer.ts';
import { limits } from '../../crds/limits.ts';
import type { BlobRef, StoredValue } from '../../crds/schema/workflow-execution-status.ts';
import { LargeValue } from '../template/large-value.ts';
import { type Blob, createBlob, locatorOf, locatorText } from './blob.ts';
import { RawText } from './raw-text.ts';

/** A reference takes more room than a short string: below this size a string is never moved out alone. */
const leastStringBytes = 256;

/** A value that fits status, and the blobs that hold what did not fit. */
export interface Shrunk {
  readonly stored: StoredValue;
  readonly blobs: readonly Blob[];
}

/**
 * Makes a JSON value small enough for status (design §5). Output that is no text, and then the longest strings, move to
 * the store. Where that is not enough, the whole value moves. `limit` is in bytes of JSON; so is `refsLimit`, of what
 * says where the parts are.
 */
export function shrink(
  value: unknown,
  limit: number = limits.inlineValueBytes,
  refsLimit: number = limits.inlineRefsBytes,
): Shrunk {
  if (typeof value === 'string' || value instanceof RawText) return shrinkText(value, limit);
  const movable: Leaf[] = [];
  collectLeaves(value, undefined, movable);
  const isShort = movable.every((leaf) => lengthOf(leaf) <= limit);
  if (isShort && sizeOf(value) <= limit) return inline(value);
  const moved = movable.length === 0 ? undefined : moveLeaves(value, movable, { limit, refsLimit });
  return moved ?? whole(createBlob(Buffer.from(JSON.stringify(value))), 'json');
}

function shrinkText(text: string | RawText, limit: number): Shrunk {
  if (typeof text === 'string' && text.length <= limit && sizeOf(text) <= limit) return inline(text);
  return whole(createBlob(bytesOf(text)), 'text');
}

const inline = (value: unknown): Shrunk => ({ stored: { value: value as StoredValue['value'] }, blobs: [] });

const fitsStatus = (refs: readonly BlobRef[], refsLimit: number): boolean =>
  refs.length <= limits.refsPerValue && sizeOf(refs) <= refsLimit;

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? 'null');
const nullBytes = 4;

/** Size of a stored value inside status, in bytes of JSON. */
export const inlineBytes = (stored: StoredValue): number => Buffer.byteLength(JSON.stringify(stored));

/** The value with a LargeValue at each part in the store of `executionUid`. */
export function open(stored: StoredValue, executionUid: string): unknown {
  let root: unknown = stored.value === undefined ? null : stored.value;
  if (stored.refs === undefined || stored.refs.length === 0) return root;
  root = structuredClone(root);
  for (const part of stored.refs) {
    const large = new LargeValue(locatorText(locatorOf(executionUid, part)), part.bytes);
    root = replaceAt(root, pointerKeys(part.path), large);
  }
  return root;
}

function whole(blob: Blob, encoding: BlobRef['encoding']): Shrunk {
  const ref = { path: '', ref: blob.ref, bytes: blob.data.byteLength, encoding };
  return { stored: { refs: [ref] }, blobs: [blob] };
}

/** The path of a leaf, from the leaf up. */
interface Place {
  readonly parent: Place | undefined;
  readonly key: string;
}

/** A string somewhere in a value that is worth moving. */
interface Leaf {
  readonly place: Place;
  readonly text: string | RawText;
}

const lengthOf = ({ text }: Leaf): number => (text instanceof RawText ? Number.POSITIVE_INFINITY : text.length);
const bytesOf = (text: string | RawText): Uint8Array => (text instanceof RawText ? text.bytes : Buffer.from(text));

interface Room {
  readonly limit: number;
  readonly refsLimit: number;
}

/** Undefined where the value is too large without its strings. One pass over the leaves, the longest first. */
function moveLeaves(value: unknown, movable: readonly Leaf[], { limit, refsLimit }: Room): Shrunk | undefined {
  const longest = movable.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const rest = copyWithout(value, new Set(longest.filter((leaf) => lengthOf(leaf) > limit).map(({ text }) => text)));
  let size = sizeOf(rest);
  const refs: BlobRef[] = [];
  const blobs = new Map<string | RawText, Blob>();
  for (const leaf of longest) {
    const isOut = lengthOf(leaf) > limit;
    if (!isOut && size <= limit) break;
    if (!isOut) size -= sizeOf(leaf.text) - nullBytes;
    const keys = keysOf(leaf.place);
    const blob = blobs.get(leaf.text) ?? createBlob(bytesOf(leaf.text));
    blobs.set(leaf.text, blob);
    refs.push({ path: pointerOf(...keys), ref: blob.ref, bytes: blob.data.byteLength, encoding: 'text' });
    replaceAt(rest, keys, null);
  }
  if (size > limit || !fitsStatus(refs, refsLimit)) return undefined;
  return { stored: { value: rest as StoredValue['value'], refs }, blobs: [...blobs.values()] };
}

/** A copy with null in place of these strings: what is too long anyway is not copied first. */
function copyWithout(value: unknown, gone: ReadonlySet<string | RawText>): unknown {
  if (typeof value === 'string' || value instanceof RawText) return gone.has(value) ? null : value;
  if (Array.isArray(value)) return value.map((item) => copyWithout(item, gone));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, copyWithout(child, gone)]));
}

function collectLeaves(value: unknown, place: Place | undefined, into: Leaf[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const child = (value as Readonly<Record<string, unknown>>)[key];
    // Most values are numbers and short texts, which have no place to be noted.
    if (isWorthMoving(child)) into.push({ place: { parent: place, key }, text: child });
    else if (typeof child === 'object') collectLeaves(child, { parent: place, key }, into);
  }
}

const isWorthMoving = (value: unknown): value is string | RawText =>
  typeof value === 'string' ? value.length >= leastStringBytes : value instanceof RawText;

function keysOf(place: Place | undefined): string[] {
  const keys: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

function replaceAt(root: unknown, keys: readonly string[], value: unknown): unknown {
  const last = keys.at(-1);
  if (last === undefined) return value;
  let holder = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  Object.defineProperty(holder, last, { value, writable: true, enumerable: true, configurable: true });
  return root;
}

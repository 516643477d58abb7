import { limits } from '../../crds/limits.ts';
import { readJsonString } from '../work/json-string.ts';

/** Bytes of heap that V8 24 takes for each part of a parsed text, measured and rounded up (design §11). */
const price = {
  /** An object or list, with its place in whatever holds it. */
  container: 64,
  /** A further element or field. */
  element: 16,
  /** A string beside its characters. */
  string: 24,
  /** A key that was not seen before: another shape of object, or a larger table. */
  newKey: 190,
  /** A key that begins with a digit: it may be an index, for which V8 sets places aside. */
  index: 260,
} as const;

/** A hash of this many bits distinguishes keys: where two share one the second costs too little, by half at most. */
const hashBits = 14;

/** Keys of the text that is priced, by their hashes. One table for all texts: making one takes longer than pricing most of them. */
const known = new Uint8Array(1 << hashBits);

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const openObject = 0x7b;

/**
 * Bytes of heap that a JSON text takes when it is parsed, at most: found out in one pass that makes nothing of it. A
 * text that is no JSON has some price as well. 1 MiB of `{}` takes more than 20 MiB (design §11).
 */
export function jsonCost(text: string): number {
  known.fill(0);
  const last = { end: 0, hash: 0, surplus: 0 };
  let start = 0;
  // Two bytes a character, which text outside of Latin-1 takes. An escape becomes one character.
  let bytes = 2 * text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      start = index + 1;
      readJsonString(text, index, last);
      index = last.end;
      // Six units of a text become one character at best, whatever comes behind a backslash.
      bytes += price.string - 2 * Math.min(last.surplus, Math.floor((5 * (last.end - start)) / 6));
    } else if (code === openObject || code === openList) bytes += price.container;
    else if (code === comma) bytes += price.element;
    else if (code === colon) bytes += isDigit(text.charCodeAt(start)) ? price.index : keyPrice(last.hash);
  }
  return bytes;
}

/** Beside its characters, a number that is kept as text: an object with one string. */
export const rawNumberCost = 128;

/**
 * Bytes of heap that parsed values take, at most, by the prices of their text; what is referred to twice counts twice.
 * The walk ends at `most`, which is the result then.
 */
export function valueCost(value: unknown, most: number): number {
  const names = new Set<string>();
  let bytes = 0;
  const walk = (part: unknown): void => {
    if (typeof part === 'string') bytes += price.string + 2 * part.length;
    if (typeof part === 'number') bytes += price.element;
    if (typeof part !== 'object' || part === null || bytes >= most) return;
    bytes += price.container;
    if (Array.isArray(part)) {
      bytes += part.length * price.element;
      for (const member of part as unknown[]) walk(member);
      return;
    }
    for (const [key, member] of Object.entries(part)) {
      bytes += price.element + nameCost(key, names);
      walk(member);
    }
  };
  walk(value);
  return Math.min(bytes, most);
}

function nameCost(name: string, names: Set<string>): number {
  if (isDigit(name.charCodeAt(0))) return price.index;
  if (names.has(name)) return 0;
  names.add(name);
  return price.newKey + price.string + 2 * name.length;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

function keyPrice(hash: number): number {
  const place = (hash ^ (hash >>> hashBits)) & ((1 << hashBits) - 1);
  if (known[place] === 1) return 0;
  known[place] = 1;
  return price.newKey;
}

/** Whether a text would take more heap than one request may ask for. */
export function isTooCostly(cost: number): boolean {
  return cost > limits.parsedJsonBytes;
}

export const tooCostly =
  `holds so many values that it would take more than ${limits.parsedJsonBytes} bytes of memory; send fewer objects, ` +
  'lists and fields, or large data by reference';

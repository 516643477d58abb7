import { randomInt } from 'node:crypto';

const quote = 0x22;
const backslash = 0x5c;

/** A string of a JSON text: where it ends, and a hash of what it holds, 32 bits. */
export interface JsonString {
  end: number;
  hash: number;
}

/** Unknown outside the process, so that no author can write keys that pass for one key. */
const seed = randomInt(2 ** 31 - 1) | 1;

/** Reads the string whose opening quote is at `start`: `end` becomes the place of its closing quote, or the text's length. */
export function readJsonString(text: string, start: number, into: JsonString): void {
  let hash = seed;
  let index = start + 1;
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) break;
    if (code === backslash) index++;
    hash = Math.imul(hash ^ code, seed) ^ (hash >>> 15);
  }
  into.end = index;
  into.hash = hash;
}

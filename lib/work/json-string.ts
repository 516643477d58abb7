import { randomInt } from 'node:crypto';

const quote = 0x22;
const backslash = 0x5c;

/** A string of a JSON text: where it ends, a hash of what it begins with, 32 bits, and units that its escapes take beyond what they become. */
interface JsonString {
  end: number;
  hash: number;
  surplus: number;
}

/** Units that are hashed: longer strings pay for their length. */
const hashed = 1_024;
const letterU = 0x75;

/** Unknown outside the process, so that no author can write keys that pass for one key. */
const seed = randomInt(2 ** 31 - 1) | 1;

/** Reads the string whose opening quote is at `start`: `end` becomes the place of its closing quote, or the text's length. */
export function readJsonString(text: string, start: number, into: JsonString): void {
  let hash = seed;
  let surplus = 0;
  let index = start + 1;
  const last = start + hashed;
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) break;
    if (code === backslash) {
      const isUnit = text.charCodeAt(++index) === letterU;
      surplus += isUnit ? 5 : 1;
      // Its four digits: a text with others in their place is read no further than here.
      if (isUnit && index > last) index += 4;
    }
    if (index <= last) hash = Math.imul(hash ^ code, seed) ^ (hash >>> 15);
  }
  into.end = Math.min(index, text.length);
  into.hash = hash;
  into.surplus = surplus;
}

import { cutText } from '../cut-text.ts';

/** Characters that Go's JSON writes in six bytes, for safety in HTML, with the bytes that each has otherwise. */
const escaped: ReadonlyMap<number, number> = new Map([
  [0x3c, 1],
  [0x3e, 1],
  [0x26, 1],
  [0x2028, 3],
  [0x2029, 3],
]);

/** About how many bytes the API server stores of an object, or of a text in one: our own JSON of it may have fewer. */
export function storedBytes(value: object | string): number {
  const json = JSON.stringify(value);
  let bytes = Buffer.byteLength(json);
  for (let at = 0; at < json.length; at++) {
    const plain = escaped.get(json.charCodeAt(at));
    if (plain !== undefined) bytes += 6 - plain;
  }
  return bytes;
}

/** As much of the beginning of a text as is stored in `most` bytes, without half a character. */
export function cutToStored(text: string, most: number): string {
  // Every UTF-16 unit is stored in one byte or more.
  let [fits, above] = [0, Math.min(text.length, most) + 1];
  while (above - fits > 1) {
    const middle = Math.floor((fits + above) / 2);
    if (storedBytes(cutText(text, middle)) > most) above = middle;
    else fits = middle;
  }
  return cutText(text, fits);
}

/** Characters that Go's JSON writes in six bytes, for safety in HTML, with the bytes that each has otherwise. */
const escaped: ReadonlyMap<number, number> = new Map([
  [0x3c, 1],
  [0x3e, 1],
  [0x26, 1],
  [0x2028, 3],
  [0x2029, 3],
]);

/** About how many bytes the API server stores of an object: our own JSON of it may have fewer. */
export function storedBytes(object: object): number {
  const json = JSON.stringify(object);
  let bytes = Buffer.byteLength(json);
  for (let at = 0; at < json.length; at++) {
    const plain = escaped.get(json.charCodeAt(at));
    if (plain !== undefined) bytes += 6 - plain;
  }
  return bytes;
}

/** A part of an answer: plain text, or a JSON that may be sent more than once. */
export type JsonPart = string | JsonTwice;

interface JsonTwice {
  readonly json: readonly Buffer[];
  /** As it is, or as a string of JSON that holds it. */
  readonly as: 'value' | 'string';
}

const pieceBytes = 32_768;
const quote = 0x22;
const backslash = 0x5c;

/** Bytes of a JSON in pieces. */
export const bytesIn = (json: readonly Buffer[]): number => json.reduce((sum, { length }) => sum + length, 0);

/** Bytes of the parts as they are sent. */
export const partsLength = (parts: readonly JsonPart[]): number => parts.reduce((sum, part) => sum + lengthOf(part), 0);

function lengthOf(part: JsonPart): number {
  if (typeof part === 'string') return Buffer.byteLength(part);
  const bytes = bytesIn(part.json);
  return part.as === 'value' ? bytes : bytes + 2 + part.json.reduce((sum, one) => sum + escapesOf(one), 0);
}

function escapesOf(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === quote || byte === backslash) count += 1;
  return count;
}

/** The parts piece by piece: no second copy of a JSON is ever there. */
export function* partPieces(parts: readonly JsonPart[]): Generator<Buffer> {
  for (const part of parts) {
    if (typeof part === 'string') yield Buffer.from(part);
    else if (part.as === 'value') yield* slicesOf(part.json);
    else {
      yield Buffer.from('"');
      for (const slice of slicesOf(part.json)) yield escaped(slice);
      yield Buffer.from('"');
    }
  }
}

function* slicesOf(json: readonly Buffer[]): Generator<Buffer> {
  for (const bytes of json) {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
}

/** JSON has no control characters, and a byte beyond ASCII is never one of these two. */
function escaped(slice: Buffer): Buffer {
  const text = Buffer.allocUnsafe(2 * slice.length);
  let length = 0;
  for (const byte of slice) {
    if (byte === quote || byte === backslash) {
      text[length] = backslash;
      length += 1;
    }
    text[length] = byte;
    length += 1;
  }
  return text.subarray(0, length);
}

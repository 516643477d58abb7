interface Unescaped {
  /** The bytes with each escape of JSON replaced by the character that it means, in UTF-8. */
  readonly text: Buffer;
  /** Places of the original for places of `text`, which follow one another. */
  readonly placesOf: (places: readonly TextRange[]) => readonly TextRange[];
}

/** Begin and end, the one behind the other. */
export type TextRange = readonly [from: number, to: number];

const backslash = 0x5c;
const letterU = 0x75;
/** `\u` and four digits. */
const unitLength = 6;
const none = -1;

/** The characters of `\"`, `\n` and the like, by the byte behind the backslash; 0: there is no such escape. */
const short = new Uint8Array(256);
const letters = String.raw`"\/bfnrt`;
const meanings = '"\\/\b\f\n\r\t';
for (let index = 0; index < letters.length; index += 1) short[letters.charCodeAt(index)] = meanings.charCodeAt(index);

/**
 * Reads escapes wherever they are (RFC 8259 §7): the bytes need not be JSON. One pass that makes no object, for a body may be ten
 * megabytes of escapes; places take another pass.
 */
export function unescapedJson(bytes: Buffer): Unescaped {
  // A character takes no more bytes than its escape.
  const text = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const code = bytes[at] === backslash ? codeAt(bytes, at) : none;
    if (code === none) text[length++] = bytes[at++] ?? 0;
    else {
      length = writeCode(text, length, code);
      at += escapeLength(bytes, at, code);
    }
  }
  return { text: text.subarray(0, length), placesOf: (places) => originals(bytes, places) };
}

function originals(bytes: Buffer, places: readonly TextRange[]): readonly TextRange[] {
  const wanted = places.flat();
  const found: number[] = [];
  let length = 0;
  let at = 0;
  while (found.length < wanted.length) {
    while (length >= (wanted[found.length] ?? Number.POSITIVE_INFINITY)) found.push(at);
    const code = bytes[at] === backslash ? codeAt(bytes, at) : none;
    length += code === none ? 1 : bytesOf(code);
    at += code === none ? 1 : escapeLength(bytes, at, code);
  }
  return places.map((_, index): TextRange => [found[2 * index] ?? 0, found[2 * index + 1] ?? at]);
}

/** The character of the escape that begins here; a surrogate without its other half counts as itself. */
function codeAt(bytes: Buffer, at: number): number {
  const high = unitAt(bytes, at);
  if (high === none) return short[bytes[at + 1] ?? 0] || none;
  if (!isIn(high, 0xd800)) return high;
  const low = unitAt(bytes, at + unitLength);
  return isIn(low, 0xdc00) ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : high;
}

const escapeLength = (bytes: Buffer, at: number, code: number): number => {
  if (code >= 0x10000) return 2 * unitLength;
  return bytes[at + 1] === letterU ? unitLength : 2;
};

/** Whether a unit is one of the 1,024 surrogates from `first` on. */
const isIn = (unit: number, first: number): boolean => unit >= first && unit < first + 0x400;

/** The value of `\uXXXX`, or none. */
function unitAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== backslash || bytes[at + 1] !== letterU || at + unitLength > bytes.length) return none;
  let unit = 0;
  for (let index = at + 2; index < at + unitLength; index += 1) {
    const digit = digitOf(bytes[index] ?? 0);
    if (digit === none) return none;
    unit = unit * 16 + digit;
  }
  return unit;
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : none;
}

function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** In UTF-8. Returns the place behind it. */
function writeCode(into: Buffer, at: number, code: number): number {
  const count = bytesOf(code);
  if (count === 1) {
    into[at] = code;
    return at + 1;
  }
  for (let index = count - 1, rest = code; index > 0; index -= 1, rest >>= 6) into[at + index] = 0x80 | (rest & 0x3f);
  into[at] = ((0xf00 >> count) & 0xff) | (code >> (6 * (count - 1)));
  return at + count;
}

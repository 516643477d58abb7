const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** Bytes that mean something outside of texts. */
const marks = new Uint8Array(256);
for (const mark of [quote, comma, colon, openList, closeList, openObject, closeObject]) marks[mark] = 1;

/**
 * The texts of some fields of a JSON object, found in one pass that makes nothing of the other fields. Bytes that are no
 * JSON may have some as well. Names that are written with escapes are not found. The last one of equal names counts, as for
 * JSON.parse.
 */
export function fieldTexts<Name extends string>(
  text: Uint8Array,
  names: readonly Name[],
): Partial<Record<Name, Buffer>> {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const outline = new Outline(bytes, names);
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (marks[byte] === 0) continue;
    if (byte === quote) index = outline.takeText(index);
    else outline.takeMark(byte, index);
  }
  return outline.found;
}

/** Where in an object the pass is. */
class Outline<Name extends string> {
  readonly found: Partial<Record<Name, Buffer>> = {};
  readonly #bytes: Buffer;
  readonly #sought: readonly { readonly name: Name; readonly key: Buffer }[];
  #depth = 0;
  #isKeyNext = false;
  /** The field whose value comes, and where that begins. */
  #key: Name | undefined;
  #from = 0;

  constructor(bytes: Buffer, names: readonly Name[]) {
    this.#bytes = bytes;
    this.#sought = names.map((name) => ({ name, key: Buffer.from(JSON.stringify(name)) }));
  }

  /** Takes the text that begins at `start`; gives the index of its end. */
  takeText(start: number): number {
    const end = endOfString(this.#bytes, start);
    if (this.#isKeyNext && this.#depth === 1) {
      const literal = this.#bytes.subarray(start, end + 1);
      this.#key = this.#sought.find(({ key }) => key.equals(literal))?.name;
    }
    this.#isKeyNext = false;
    return end;
  }

  takeMark(byte: number, index: number): void {
    if (byte === openObject || byte === openList) {
      this.#depth += 1;
      this.#isKeyNext = this.#depth === 1;
    } else if (byte === closeObject || byte === closeList) {
      this.#depth -= 1;
      if (this.#depth === 0) this.#finish(index);
    } else if (this.#depth === 1) this.#separate(byte, index);
  }

  /** A colon or a comma between fields. */
  #separate(byte: number, index: number): void {
    this.#isKeyNext = byte === comma;
    if (byte === comma) this.#finish(index);
    else if (this.#from === 0) this.#from = index + 1;
  }

  #finish(end: number): void {
    if (this.#key !== undefined && this.#from > 0) this.found[this.#key] = this.#bytes.subarray(this.#from, end);
    this.#key = undefined;
    this.#from = 0;
  }
}

/** Index of the quotation mark that closes the string which begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1);
  while (end > 0 && isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1);
  return end < 0 ? bytes.length : end;
}

function isEscaped(bytes: Buffer, index: number): boolean {
  let first = index;
  while (bytes[first - 1] === backslash) first -= 1;
  return (index - first) % 2 === 1;
}

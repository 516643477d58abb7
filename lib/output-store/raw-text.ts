/**
 * Output of a command that is no valid UTF-8. Templates see its text, in which U+FFFD replaces bytes that could not be
 * decoded; the output store keeps the bytes. In JSON it is its text.
 */
export class RawText {
  readonly text: string;
  readonly bytes: Uint8Array;

  constructor(text: string, bytes: Uint8Array) {
    this.text = text;
    this.bytes = bytes;
  }

  toJSON(): string {
    return this.text;
  }
}

/** Bytes as JSON can hold them: a string where nothing is lost by it, otherwise a RawText. */
export function textOrRaw(bytes: Uint8Array, decode: (bytes: Uint8Array) => string): string | RawText {
  const text = decode(bytes);
  const isWhole = !text.includes('\uFFFD') || Buffer.from(text).equals(bytes);
  return isWhole ? text : new RawText(text, bytes);
}

/** The same value with text in place of every RawText. */
export function withoutRaw(value: unknown): unknown {
  if (value instanceof RawText) return value.text;
  if (Array.isArray(value)) return value.map(withoutRaw);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutRaw(child)]));
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

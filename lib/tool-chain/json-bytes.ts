import { isRawNumber, rawText } from './exact-json.ts';

/**
 * Bytes of UTF-8 that a parsed JSON value takes as JSON, found out without writing it: what is referred to twice counts twice.
 * Beyond `most` the walk ends, and the result is any number above `most`.
 */
export function jsonBytes(value: unknown, most: number): number {
  if (typeof value === 'string') return stringBytes(value, most);
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (isRawNumber(value)) return rawText(value).length;
  // Two brackets, and a comma between every two members.
  if (Array.isArray(value)) {
    let bytes = 1;
    for (const item of value as unknown[]) {
      bytes += 1 + jsonBytes(item, most - bytes);
      if (bytes > most) return bytes;
    }
    return Math.max(bytes, 2);
  }
  let bytes = 1;
  for (const key of Object.keys(value)) {
    bytes += 2 + stringBytes(key, most - bytes);
    bytes += jsonBytes((value as Readonly<Record<string, unknown>>)[key], most - bytes);
    if (bytes > most) return bytes;
  }
  return Math.max(bytes, 2);
}

const space = 0x20;
const quote = 0x22;
const backslash = 0x5c;
/** `\b`, `\t`, `\n`, `\f` and `\r`; other control characters are `\u` and four digits. */
const short: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
/** Characters that JSON.stringify escapes. */
const escaped = /["\\\p{Cc}\p{Cs}]/u;

function stringBytes(text: string, most: number): number {
  let bytes = 2 + Buffer.byteLength(text);
  if (bytes > most || !escaped.test(text)) return bytes;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote || code === backslash) bytes += 1;
    else if (code < space) bytes += short.has(code) ? 1 : 5;
    else if (isLone(text, index)) bytes += 3;
  }
  return bytes;
}

/** Half a pair of surrogates: three bytes as UTF-8, and six in JSON. */
function isLone(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0xd800 || code > 0xdfff) return false;
  if (code < 0xdc00) return !(text.charCodeAt(index + 1) >= 0xdc00 && text.charCodeAt(index + 1) <= 0xdfff);
  return !(text.charCodeAt(index - 1) >= 0xd800 && text.charCodeAt(index - 1) <= 0xdbff);
}

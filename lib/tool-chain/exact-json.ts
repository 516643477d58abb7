/**
 * JSON whose numbers are kept as they are written. JavaScript holds some fifteen digits: an identifier of twenty would
 * be sent on as another one. Where JavaScript would write a number otherwise, its text takes its place.
 */
type RawNumber = Readonly<Record<'rawJSON', string>>;

/** The part of ECMAScript that the published types lack. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}

const json = JSON as unknown as JsonWithSource;

/** Like JSON.parse, with exact numbers. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isKept(value, source) ? json.rawJSON(source) : value,
  );
}

/** Counts of a JSON text, taken before anything is made of it. */
interface JsonCounts {
  readonly values: number;
  /** Numbers that JavaScript would write otherwise; a text without one needs no exact form. */
  readonly longNumbers: number;
}

const digits = /[\d.eE+-]*/y;

export function countJson(text: string): JsonCounts {
  let [values, longNumbers] = [1, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // `[`, `{` and `,`; a string is passed over.
    if (code === 0x5b || code === 0x7b || code === 0x2c) values += 1;
    else if (code === 0x22) index = endOfString(text, index);
    else if (code >= 0x30 && code <= 0x39) {
      const number = numberAt(text, index);
      if (isSuspicious(number) && !isKept(Number(number), number)) longNumbers += 1;
      index += number.length - 1;
    }
  }
  return { values, longNumbers };
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) break;
    if (code === 0x5c) index += 1;
  }
  return index;
}

/** Without the sign, which changes nothing of how it is kept. */
function numberAt(text: string, index: number): string {
  digits.lastIndex = index;
  return digits.exec(text)?.[0] ?? '';
}

/** Shorter ones are kept, unless they have an exponent. */
const isSuspicious = (number: string): boolean => number.length > 15 || /[eE]/.test(number);

/** Up to fifteen digits are kept, however the number is written. */
function isKept(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (String(value) === source) return true;
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/[^\d]/g, '')
    .replace(/^0+/, '');
  return digits.length <= 15 && (value !== 0 || digits === '');
}

/** Whether a value is a number that is kept as text. */
export const isRawNumber = (value: unknown): value is RawNumber => json.isRawJSON(value);

export const rawText = (value: RawNumber): string => value.rawJSON;

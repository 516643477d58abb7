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

/** Whether a text may hold a number that JavaScript cannot keep; other texts are parsed at full speed. */
const suspicious = /[\d.]{16}|[eE][+-]?\d{2}/;

/** Like JSON.parse, with exact numbers. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text) as unknown;
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isKept(value, source) ? json.rawJSON(source) : value,
  );
}

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

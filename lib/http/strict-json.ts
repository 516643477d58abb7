import { limits } from '../../crds/limits.ts';
import { formatPlace, type Place } from '../../crds/problem.ts';
import { AppError } from '../errors.ts';
import { isTooDeep, tooDeep } from '../nesting.ts';

/** JSON that means different things to different readers, or none at all. `path` is empty where the text is no JSON. */
export class JsonTextError extends AppError {
  override readonly name = 'JsonTextError';
  readonly path: string;

  constructor(message: string, at: Place = []) {
    super('invalid', message);
    this.path = formatPlace(at);
  }
}

/**
 * Reads a JSON document, more strictly than JSON.parse. It refuses a duplicate key of an object, the key `__proto__`,
 * and text with half a character (a lone surrogate). It also refuses numbers that JavaScript cannot hold exactly, and
 * values nested deeper than 64 levels. Throws JsonTextError with the place; `base` begins it.
 */
export function parseStrictJson(text: string, base: Place = []): unknown {
  const value = parsePlacedJson(text, base);
  assertStrict(text, value, base);
  return value;
}

/** The same, but numbers that JavaScript cannot hold exactly are taken: for texts whose numbers are not read. */
export function parseJsonDocument(text: string): unknown {
  const value = parsePlacedJson(text);
  scan(text, [], Number.POSITIVE_INFINITY);
  return value;
}

/** The part of `parseStrictJson` that follows JSON.parse, for callers that yield in between. */
export function assertStrict(text: string, value: unknown, base: Place = []): void {
  if (text.length > shortText || !isCanonical(text, value)) scan(text, base);
}

/** Characters up to which writing a value again costs less than looking at its text. */
const shortText = 65_536;

/** Values that JSON.stringify writes although they may have to be refused. */
const suspicious = /__proto__|\\ud|\d{16}/;

/**
 * Whether JSON.stringify makes the same text of the value, as of most that programs send. Nothing was lost then on the
 * way from one to the other, no second key and no digit. It takes a tenth of a scan's time.
 */
function isCanonical(text: string, value: unknown): boolean {
  return !suspicious.test(text) && !isTooDeep(value) && JSON.stringify(value) === text;
}

/** Like JSON.parse, but throws JsonTextError. */
export function parsePlacedJson(text: string, base: Place = []): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonTextError(text.charCodeAt(0) === 0xfeff ? 'begins with a byte order mark' : syntaxOf(error), base);
  }
}

/** Where V8 stopped; its message may quote the text, which is the caller's own. */
function syntaxOf(error: unknown): string {
  const position = /at position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? 'is not valid JSON' : `is not valid JSON at position ${position}`;
}

/**
 * The token that a character begins, in a text that JSON.parse accepted. Other characters begin no token of interest.
 */
const begins = { string: 1, open: 2, close: 3, comma: 4, number: 5 } as const;
const beginnings = new Uint8Array(128);
for (const [kind, characters] of [
  [begins.string, '"'],
  [begins.open, '{['],
  [begins.close, '}]'],
  [begins.comma, ','],
  [begins.number, '-0123456789'],
] as const)
  for (const character of characters) beginnings[character.charCodeAt(0)] = kind;

/** Numbers shorter than `shortest` are not looked at. Looks at a text that JSON.parse accepted, character by character: a regular expression takes five times as long. */
function scan(text: string, base: Place, shortest = shortestSuspect): void {
  const position = createPosition(base);
  for (let index = 0; index < text.length; index += 1) {
    switch (beginnings[text.charCodeAt(index)]) {
      case begins.string: {
        const end = endOfString(text, index);
        takeString(text.slice(index, end + 1), position);
        index = end;
        break;
      }
      case begins.open:
        position.open(text[index] === '{' ? '{' : '[');
        break;
      case begins.close:
        position.close();
        break;
      case begins.comma:
        position.next();
        break;
      case begins.number: {
        const end = endOfNumber(text, index);
        if (end - index >= shortest) checkNumber(text.slice(index, end), position);
        index = end - 1;
        break;
      }
      default:
    }
  }
}

/** `1e309` is the shortest number that may have to be refused. */
const shortestSuspect = 5;
const quote = 0x22;
const backslash = 0x5c;

/** Index of the quotation mark that closes the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) break;
    if (code === backslash) index += 1;
  }
  return index;
}

/** Behind the last character of the number that begins at `start`: digits, sign, point and exponent. */
function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && isOfNumber(text.charCodeAt(index))) index += 1;
  return index;
}

const isOfNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2b || code === 0x2d || code === 0x45 || code === 0x65;

/** Position of the scan in the document. */
interface Position {
  readonly isKeyNext: boolean;
  readonly place: Place;
  open(bracket: '{' | '['): void;
  close(): void;
  /** The value is over and another one follows. */
  next(): void;
  enterKey(key: string): void;
}

/** An object or list that is being read; `keys` only of an object. */
interface Container {
  readonly keys: Set<string> | undefined;
  here: string | number;
}

function createPosition(base: Place): Position {
  const containers: Container[] = [];
  let isKeyNext = false;
  const position: Position = {
    get isKeyNext() {
      return isKeyNext;
    },
    get place() {
      return [...base, ...containers.map(({ here }) => here)];
    },
    open(bracket) {
      if (containers.length === limits.jsonDepth) throw new JsonTextError(tooDeep, base);
      isKeyNext = bracket === '{';
      containers.push(isKeyNext ? { keys: new Set(), here: '' } : { keys: undefined, here: 0 });
    },
    close() {
      containers.pop();
      isKeyNext = false;
    },
    next() {
      const container = containers.at(-1);
      if (typeof container?.here === 'number') container.here += 1;
      isKeyNext = container?.keys !== undefined;
    },
    enterKey(key) {
      isKeyNext = false;
      const container = containers.at(-1);
      if (container?.keys === undefined) return;
      const isRepeated = container.keys.has(key);
      container.keys.add(key);
      container.here = key;
      if (isRepeated) throw new JsonTextError('is given twice', position.place);
      if (key === '__proto__') throw new JsonTextError('is not allowed as the name of a field', position.place);
    },
  };
  return position;
}

const halfEscaped = /\\ud/i;

function takeString(literal: string, position: Position): void {
  // Only halves of characters in a value matter here, so that a long value is not made again.
  if (!position.isKeyNext && !halfEscaped.test(literal) && literal.isWellFormed()) return;
  const string = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (!string.isWellFormed()) throw new JsonTextError('holds half of a character (a lone surrogate)', position.place);
  if (position.isKeyNext) position.enterKey(string);
}

/** Whole numbers of so many digits are exact, whichever they are. */
const exactDigits = 15;

function checkNumber(literal: string, position: Position): void {
  if (literal.length > exactDigits && /^-?\d+$/.test(literal) && !Number.isSafeInteger(Number(literal)))
    throw new JsonTextError(
      'is a whole number beyond 2^53, which cannot be read exactly: send it as text',
      position.place,
    );
  if (!Number.isFinite(Number(literal))) throw new JsonTextError('is a number too large to read', position.place);
}

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
 * Reads a JSON document, more strictly than JSON.parse: a key that stands twice in its object, the key `__proto__`,
 * text with half a character (a lone surrogate), numbers that JavaScript cannot hold exactly, and values nested
 * deeper than 64 levels are refused. Throws JsonTextError with the place; `base` begins it.
 */
export function parseStrictJson(text: string, base: Place = []): unknown {
  const value = parseJson(text, base);
  if (!isCanonical(text, value)) scan(text, base);
  return value;
}

/** What JSON.stringify writes although it may have to be refused. */
const suspicious = /__proto__|\\ud|\d{16}/;

/**
 * Whether JSON.stringify makes the same text of the value, as of what most programs send: then nothing was lost on the
 * way from one to the other, no second key and no digit. It takes a tenth of a scan's time.
 */
function isCanonical(text: string, value: unknown): boolean {
  return !suspicious.test(text) && !isTooDeep(value) && JSON.stringify(value) === text;
}

/** Like JSON.parse, but throws JsonTextError. */
export function parseJson(text: string, base: Place = []): unknown {
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

/** Strings, the marks that open, close and part, and numbers: all that is looked at in a text that JSON.parse accepted. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]|-?\d[\d.eE+-]*/g;

function scan(text: string, base: Place): void {
  const position = createPosition(base);
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') position.open(token);
    else if (token === '}' || token === ']') position.close();
    else if (token === ',') position.next();
    else if (token.startsWith('"')) takeString(token, position);
    else checkNumber(token, position);
  }
}

/** Where in the document the scan stands. */
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

function takeString(literal: string, position: Position): void {
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

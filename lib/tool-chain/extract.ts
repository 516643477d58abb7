import { JSONPath } from 'jsonpath-plus';
import { isRawNumber, rawText } from './exact-json.ts';
import { type Comparison, type Filter, type Operator, parseExtractor, type Segment } from './parse-extractor.ts';

/** The first match of a path, wrapped so that a null differs from none. */
export type Extracted = { readonly value: unknown } | undefined;

/**
 * The first match of a JSONPath over a parsed response. The gate's own rendering of the path is given to the library, and
 * filters are compared here: the library runs nothing of the expression, and ends at the first match.
 * @throws ExtractorError
 */
export function extract(expression: string, body: unknown): Extracted {
  const segments = parseExtractor(expression);
  if (segments.length === 0) return { value: body };
  // The library takes a falsy document for none; no path leads into one.
  if (typeof body !== 'object' || body === null) return undefined;
  const filters = segments.flatMap((segment) => (segment.kind === 'filter' ? [segment.filter] : []));
  boundCache();
  const search = new FirstMatch();
  try {
    JSONPath({
      path: `$${segments.map(createWriter()).join('')}`,
      json: body,
      wrap: true,
      eval: holds,
      sandbox: { filters },
      callback: (value: unknown) => search.end(value),
    });
    return undefined;
  } catch (error) {
    if (error === search) return { value: search.match };
    throw error;
  }
}

/** Thrown through the library to end its search. */
class FirstMatch extends Error {
  match: unknown;

  end(value: unknown): never {
    this.match = value;
    throw this;
  }
}

/** Paths in the form of the library. A name is marked so that it is never taken for an operator; a filter is its number. */
function createWriter(): (segment: Segment) => string {
  let filters = 0;
  return (segment) => {
    switch (segment.kind) {
      case 'name':
        return `['\`${segment.name}']`;
      case 'index':
        return `[${segment.index}]`;
      case 'every':
        return '[*]';
      case 'descend':
        return '..';
      case 'filter':
        return `[?(${filters++})]`;
    }
  };
}

interface Sandbox {
  readonly filters: readonly Filter[];
  readonly _$_v?: unknown;
}

/** The library keeps the first function of this text for all searches, so everything comes by the sandbox. */
const holds = (code: string, { filters, _$_v: value }: Sandbox): boolean =>
  filters[Number(code)]?.some((comparisons) => comparisons.every((comparison) => isTrue(comparison, value))) ?? false;

function isTrue({ path, operator, value: wanted }: Comparison, item: unknown): boolean {
  const found = follow(item, path);
  if (operator === undefined) return found !== undefined;
  if (found === undefined) return operator.startsWith('!');
  return compare[operator](plain(found), wanted);
}

function follow(start: unknown, path: readonly (string | number)[]): unknown {
  let value = start;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || isRawNumber(value) || !Object.hasOwn(value, key))
      return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[key];
  }
  return value;
}

const plain = (value: unknown): unknown => (isRawNumber(value) ? Number(rawText(value)) : value);

type Compare = (found: unknown, wanted: unknown) => boolean;

/** Order is that of two numbers or two texts; nothing is converted. */
const ordered =
  (test: (found: number | string, wanted: number | string) => boolean): Compare =>
  (found, wanted) => {
    if (typeof found === 'number' && typeof wanted === 'number') return test(found, wanted);
    return typeof found === 'string' && typeof wanted === 'string' && test(found, wanted);
  };

const compare: Readonly<Record<Operator, Compare>> = {
  '==': (found, wanted) => found === wanted,
  '===': (found, wanted) => found === wanted,
  '!=': (found, wanted) => found !== wanted,
  '!==': (found, wanted) => found !== wanted,
  '<': ordered((found, wanted) => found < wanted),
  '<=': ordered((found, wanted) => found <= wanted),
  '>': ordered((found, wanted) => found > wanted),
  '>=': ordered((found, wanted) => found >= wanted),
};

/** Expressions that the library has parsed since its cache was emptied; it keeps them for ever otherwise. */
let parsed = 0;
const parsedMax = 1_000;

function boundCache(): void {
  parsed += 1;
  if (parsed <= parsedMax) return;
  parsed = 0;
  Object.assign(JSONPath, { cache: {} });
}

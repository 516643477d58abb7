import { isRawNumber, rawText } from './exact-json.ts';
import { type Comparison, type Filter, type Operator, parseExtractor, type Segment } from './parse-extractor.ts';

/** The first match of a path, wrapped so that a null differs from none. */
export type Extracted = { readonly value: unknown } | undefined;

/**
 * The first match of a JSONPath over a parsed response, in the order of RFC 9535: an object or a list before its members.
 * A list or an object that matches is the value as a whole (spec 3 §2.4). The search ends at the first match.
 * @throws ExtractorError
 */
export function extract(expression: string, body: unknown): Extracted {
  return firstMatch(parseExtractor(expression), 0, body);
}

function firstMatch(segments: readonly Segment[], from: number, value: unknown): Extracted {
  const segment = segments[from];
  if (segment === undefined) return { value };
  for (const next of nextOf(segment, value)) {
    const found = firstMatch(segments, from + 1, next);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Values to which a segment leads. Only own members count: nothing of a prototype is read. */
function nextOf(segment: Segment, value: unknown): Iterable<unknown> {
  switch (segment.kind) {
    case 'name':
      return isList(value) ? [] : member(value, segment.name);
    case 'index':
      return isList(value) ? member(value, segment.index) : [];
    case 'every':
      return childrenOf(value);
    case 'descend':
      return withDescendants(value);
    case 'filter':
      return childrenOf(value).filter((child) => holds(segment.filter, child));
  }
}

type Members = Readonly<Record<string | number, unknown>>;

const isParent = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !isRawNumber(value);

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const member = (value: unknown, key: string | number): unknown[] =>
  isParent(value) && Object.hasOwn(value, key) ? [value[key]] : [];

const childrenOf = (value: unknown): unknown[] => (isParent(value) ? Object.values(value) : []);

function* withDescendants(value: unknown): Generator<unknown> {
  yield value;
  for (const child of childrenOf(value)) if (isParent(child)) yield* withDescendants(child);
}

const holds = (filter: Filter, item: unknown): boolean =>
  filter.some((comparisons) => comparisons.every((comparison) => isTrue(comparison, item)));

function isTrue({ path, operator, value: wanted }: Comparison, item: unknown): boolean {
  const found = follow(item, path);
  if (operator === undefined) return found !== undefined;
  if (found === undefined) return operator.startsWith('!');
  return compare[operator](plain(found), wanted);
}

function follow(start: unknown, path: readonly (string | number)[]): unknown {
  let value = start;
  for (const key of path) [value] = isList(value) === (typeof key === 'number') ? member(value, key) : [];
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

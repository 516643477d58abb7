import { JSONPath } from 'jsonpath-plus';
import { isRawNumber, rawText } from './exact-json.ts';
import { searchLimits } from './limits.ts';
import {
  type ExtractorComparison,
  type Filter,
  type ExtractorOperator,
  parseExtractor,
  type Segment,
} from './parse-extractor.ts';
import { StepFailure } from './step-failure.ts';

/** The first match of a path, wrapped so that a null differs from none. */
export type Extracted = { readonly value: unknown } | undefined;

/**
 * The first match of a JSONPath over a parsed response, in the order of RFC 9535: an object or a list before its members.
 * A list or an object that matches is the value as a whole (spec 3 §2.4). Names and indexes are followed here up to the first
 * segment that searches; `jsonpath-plus` walks from there on, runs nothing of the expression, and ends at the first match.
 * @throws ExtractorError; StepFailure where the search takes too much work.
 */
export function extract(expression: string, body: unknown): Extracted {
  const segments = parseExtractor(expression);
  let value = body;
  for (const [at, segment] of segments.entries()) {
    if (segment.kind !== 'name' && segment.kind !== 'index') return search(segments.slice(at), value);
    const found = follow(value, segment.kind === 'name' ? segment.name : segment.index);
    if (found === undefined) return undefined;
    value = found.value;
  }
  return { value };
}

function search(segments: readonly Segment[], start: unknown): Extracted {
  if (!isParent(start)) return undefined;
  const tests: Test[] = [];
  const path = segments.map((segment) => textOf(segment, tests)).join('');
  const first = new FirstMatch();
  const effort: Effort = { left: searchLimits.work };
  boundCache();
  try {
    JSONPath({
      path: `$${path}`,
      json: start,
      wrap: true,
      eval: passes,
      sandbox: { tests, effort },
      callback: (value: unknown, _type: unknown, { parent }: { readonly parent: unknown }) => {
        if (!isRawNumber(parent)) first.end(value);
      },
    });
    return undefined;
  } catch (error) {
    if (error === first) return { value: first.match };
    if (effort.left < 0) throw tooMuchToSearch();
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

/** Work that a search has left; below zero it is over. */
interface Effort {
  left: number;
}

const tooMuchToSearch = (): StepFailure =>
  new StepFailure(
    `the search takes more than ${searchLimits.work} units of work, too many to search with *, .. or a filter; ` +
      'begin the path with names, or compare less',
  );

interface Test {
  readonly work: number;
  /** Whether the search continues with a child; the key of a list's item is a number. */
  readonly passes: (child: unknown, key: string | number) => boolean;
}

/**
 * A segment in the form of the library. All but `..` are numbers of tests, so that no name in a path or in a response
 * means anything to the library. The library takes a member `*` for all members, and gives a list a member `length`.
 */
function textOf(segment: Segment, tests: Test[]): string {
  if (segment.kind === 'descend') return '..';
  const work = searchLimits.test + (segment.kind === 'filter' ? workOf(segment.filter) : 0);
  return `[?(${tests.push({ work, passes: testOf(segment) }) - 1})]`;
}

const workOf = (filter: Filter): number => filter.flat().reduce((work, { path }) => work + 1 + path.length, 0);

function testOf(segment: Exclude<Segment, { readonly kind: 'descend' }>): Test['passes'] {
  switch (segment.kind) {
    case 'name':
      return (_child, key) => key === segment.name;
    case 'index':
      return (_child, key) => key === segment.index;
    case 'every':
      return () => true;
    case 'filter':
      return (child) => holds(segment.filter, child);
  }
}

interface Sandbox {
  readonly tests: readonly Test[];
  readonly effort: Effort;
  readonly _$_v?: unknown;
  readonly _$_property?: string | number;
}

/** The library keeps the first function of this text for all searches, so everything comes by the sandbox. */
function passes(code: string, { tests, effort, _$_v: child, _$_property: key = '' }: Sandbox): boolean {
  const test = tests[Number(code)];
  if (test === undefined) return false;
  effort.left -= test.work;
  // The library throws an error of its own in place of this one.
  if (effort.left < 0) throw tooMuchToSearch();
  return test.passes(child, key);
}

type Members = Readonly<Record<string | number, unknown>>;

const isParent = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !isRawNumber(value);

/** An index is of a list, a name of an object. Only own members count: nothing of a prototype is read. */
function follow(value: unknown, key: string | number): Extracted {
  if (!isParent(value) || Array.isArray(value) !== (typeof key === 'number')) return undefined;
  return Object.hasOwn(value, key) ? { value: value[key] } : undefined;
}

const holds = (filter: Filter, item: unknown): boolean =>
  filter.some((comparisons) => comparisons.every((comparison) => isTrue(comparison, item)));

function isTrue({ path, operator, value: wanted }: ExtractorComparison, item: unknown): boolean {
  const found = valueAt(item, path);
  if (operator === undefined) return found !== undefined;
  if (found === undefined) return operator.startsWith('!');
  return compare[operator](plain(found), wanted);
}

function valueAt(start: unknown, path: readonly (string | number)[]): unknown {
  let value = start;
  for (const key of path) value = follow(value, key)?.value;
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

const compare: Readonly<Record<ExtractorOperator, Compare>> = {
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

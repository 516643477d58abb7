import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type YAMLError,
  visit,
} from 'yaml';
import { errorAt, type Place, type Problem } from '../../crds/problem.ts';

/** A place in a text, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A problem and where it stands in the text. */
export interface LocatedProblem extends Problem, Position {}

/** One document of a text: its value as JSON knows it, and where each part of it stands. */
export interface SourceDocument {
  readonly value: unknown;
  /** Problems of the syntax; when there are any, the value is null. */
  readonly problems: readonly LocatedProblem[];
  /** Where a place begins; for one that is absent, where the nearest part around it begins. */
  readonly positionOf: (at: Place) => Position;
}

/** Largest text that is read; an API server takes no larger object either. */
export const manifestBytes = 1_048_576;
/** How often all aliases of a document may be resolved; a bomb of nested aliases needs far more. */
const aliasLimit = 100;

/**
 * The documents of a YAML or JSON text (YAML 1.2, core schema). Empty ones are left out. Refused with a position:
 * syntax errors, repeated keys, tags, keys that are no plain values, numbers that JSON cannot hold, alias bombs.
 */
export function readDocuments(text: string): readonly SourceDocument[] {
  const size = Buffer.byteLength(text);
  if (size > manifestBytes) return [tooLarge(size)];
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: (a, b) => isScalar(a) && isScalar(b) && String(a.value) === String(b.value),
  });
  if (!Array.isArray(documents)) return [];
  return documents.filter((document) => !isEmpty(document)).map((document) => toSource(document, lines));
}

const isEmpty = ({ contents, errors }: Document): boolean =>
  errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null && !contents.source));

function tooLarge(size: number): SourceDocument {
  const problem = errorAt([], 'too_large', `has ${size} bytes; at most ${manifestBytes} are read`);
  const start = { line: 1, column: 1 };
  return { value: null, problems: [{ ...problem, ...start }], positionOf: () => start };
}

function toSource(document: Document, lines: LineCounter): SourceDocument {
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const positionOf = (at: Place): Position => positionAt(offsetOf(document.contents as Node | null, at));
  const located = (rule: string, message: string, offset: number): LocatedProblem => ({
    ...errorAt([], rule, message),
    ...positionAt(offset),
  });
  const syntax = [...document.errors, ...document.warnings].map((error) =>
    located('yaml', textOf(error), error.pos[0]),
  );
  const problems = syntax.length > 0 ? syntax : foreignNodes(document, located);
  if (problems.length > 0) return { value: null, problems, positionOf };
  try {
    return { value: document.toJS({ maxAliasCount: aliasLimit }), problems, positionOf };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: null, problems: [located('yaml', message, 0)], positionOf };
  }
}

const tagText = 'tags are not allowed; write a plain value';
const plainTags = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);
const isForeign = (tag: string | undefined): boolean => tag !== undefined && !plainTags.has(tag);

const texts: Partial<Readonly<Record<YAMLError['code'], string>>> = {
  DUPLICATE_KEY: 'the key stands twice in this map',
  TAG_RESOLVE_FAILED: tagText,
};

const textOf = (error: YAMLError): string => texts[error.code] ?? error.message;

/** What YAML can say and JSON cannot. */
function foreignNodes(
  document: Document,
  located: (rule: string, message: string, offset: number) => LocatedProblem,
): LocatedProblem[] {
  const found: LocatedProblem[] = [];
  visit(document, {
    Pair(_key, pair) {
      if (isScalar(pair.key)) return;
      const offset = (pair.key as Node | null)?.range?.[0] ?? 0;
      found.push(located('yaml', 'a key must be a plain value', offset));
    },
    Collection(_key, { tag, range }) {
      if (isForeign(tag)) found.push(located('yaml', tagText, range?.[0] ?? 0));
    },
    Scalar(_key, { value, tag, range }) {
      if (isForeign(tag)) found.push(located('yaml', tagText, range?.[0] ?? 0));
      if (typeof value === 'bigint' || (typeof value === 'number' && !isExact(value))) {
        found.push(located('number', 'JSON cannot hold this number exactly; write it in quotes', range?.[0] ?? 0));
      }
    },
  });
  return found;
}

const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);

/** Follows a place as far as the document goes. A field begins at its key. */
function offsetOf(root: Node | null, at: Place): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const key of at) {
    const child = childOf(node, key);
    if (child === undefined) break;
    offset = child.offset ?? offset;
    node = child.node;
  }
  return offset;
}

function childOf(node: unknown, key: string | number): { node: unknown; offset: number | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    return pair && { node: pair.value, offset: isScalar(pair.key) ? pair.key.range?.[0] : undefined };
  }
  if (!isSeq(node) || typeof key !== 'number') return undefined;
  const item = node.items[key];
  return item === undefined ? undefined : { node: item, offset: (item as Node).range?.[0] };
}

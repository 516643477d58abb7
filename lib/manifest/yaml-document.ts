import {
  type Alias,
  type Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { cutText } from '../cut-text.ts';
import { isTooDeep } from '../nesting.ts';
import { plainWords } from './plain-words.ts';

/** A place in a text, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A problem and its place in the text. */
export interface LocatedProblem extends Problem, Position {}

/** One document of a text: its value as JSON knows it, and the place of each part of it. */
export interface SourceDocument {
  readonly value: unknown;
  /** Problems of the syntax; when there are any, the value is null. */
  readonly problems: readonly LocatedProblem[];
  /** Where a place begins; for one that is absent, where the nearest part around it begins. */
  readonly positionOf: (at: Place) => Position;
  /** Warnings of what kubectl would read otherwise. They are looked for when asked. */
  readonly wordsForKubectl: () => readonly LocatedProblem[];
}

/** Largest text that is read; an API server takes no larger object either. */
export const manifestBytes = 1_048_576;
/** Most tokens of a text: the largest legal definition has some 70,000, and more would keep the reader busy for long. */
const tokenLimit = 100_000;
/** How much of a text is read, and whether numbers may be there that JSON cannot hold exactly. */
export interface YamlBounds {
  readonly bytes: number;
  readonly tokens: number;
  readonly anyNumber?: boolean;
}
const manifestBounds: YamlBounds = { bytes: manifestBytes, tokens: tokenLimit };
/** Syntax errors of one document that are reported; a reader stops after so many. */
const errorLimit = 100;
/** Levels of a value: aliases in aliases make thousands of a short text, which nothing could write or walk. */
const levelsLimit = 1_000;
/** How often all aliases of a document may be resolved; a bomb of nested aliases needs far more. */
const aliasLimit = 100;

/**
 * The documents of a YAML or JSON text (YAML 1.2, core schema). Empty ones are left out. Refused with a position:
 * syntax errors, repeated keys, tags, keys that are no plain values, numbers that JSON cannot hold, alias bombs.
 */
export function readDocuments(text: string, bounds: YamlBounds = manifestBounds): readonly SourceDocument[] {
  const size = Buffer.byteLength(text);
  if (size > bounds.bytes) return [tooLarge(`has ${size} bytes; at most ${bounds.bytes} are read`)];
  if (hasTooManyTokens(text, bounds.tokens)) return [tooLarge(`has more than ${bounds.tokens} YAML tokens`)];
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    lineCounter: lines,
    prettyErrors: false,
    // Looked for below in one pass: the library compares every key with every other.
    uniqueKeys: false,
  });
  if (!Array.isArray(documents)) return [];
  const { anyNumber = false } = bounds;
  return documents.filter((document) => !isEmpty(document)).map((document) => toSource(document, lines, anyNumber));
}

const isEmpty = ({ contents, errors }: Document): boolean =>
  errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null && !contents.source));

/** Reads no further than it has to. */
function hasTooManyTokens(text: string, most: number): boolean {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most) return true;
  }
  return false;
}

function tooLarge(message: string): SourceDocument {
  const problem = errorAt([], 'too_large', message);
  const start = { line: 1, column: 1 };
  return { value: null, problems: [{ ...problem, ...start }], positionOf: () => start, wordsForKubectl: none };
}

const none = (): readonly LocatedProblem[] => [];

function toSource(document: Document, lines: LineCounter, anyNumber: boolean): SourceDocument {
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const offsetOf = createPlaces(document.contents as Node | null);
  const positionOf = (at: Place): Position => positionAt(offsetOf(at));
  const located = (rule: string, message: string, offset: number): LocatedProblem => ({
    ...errorAt([], rule, message),
    ...positionAt(offset),
  });
  const syntax = [...document.errors, ...document.warnings]
    .slice(0, errorLimit)
    .map((error) => located('yaml', textOf(error), error.pos[0]));
  const problems = syntax.length > 0 ? syntax : foreignNodes(document, located, anyNumber);
  const wordsForKubectl = (): readonly LocatedProblem[] =>
    plainWords(document).map(({ problem, offset }) => ({ ...problem, ...positionAt(offset) }));
  if (problems.length > 0) return { value: null, problems, positionOf, wordsForKubectl: none };
  try {
    const value: unknown = document.toJS({ maxAliasCount: aliasLimit });
    if (isTooDeep(value, levelsLimit)) throw new Error(deepText);
    return { value, problems, positionOf, wordsForKubectl };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: null, problems: [located('yaml', message, 0)], positionOf, wordsForKubectl: none };
  }
}

const mergeText = 'YAML 1.2 has no merge keys; write the fields out, or put << in quotes';
const repeatedText = (name: string): string => `the key '${cutText(name, keyShown)}' is a duplicate in this map`;
/** Characters of a repeated key that its problem quotes. */
const keyShown = 100;
const cycleText = 'an alias must not name a value that contains it';
const tagText = 'tags are not allowed; write a plain value';
const plainTags = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);
const isForeign = (tag: string | undefined): boolean => tag !== undefined && !plainTags.has(tag);

const deepText = 'is nested too deeply';

const texts: Partial<Readonly<Record<YAMLError['code'], string>>> = {
  TAG_RESOLVE_FAILED: tagText,
  RESOURCE_EXHAUSTION: deepText,
};

const textOf = (error: YAMLError): string => texts[error.code] ?? error.message;

/** Values that YAML can hold and JSON cannot. */
function foreignNodes(
  document: Document,
  located: (rule: string, message: string, offset: number) => LocatedProblem,
  anyNumber: boolean,
): LocatedProblem[] {
  const found: LocatedProblem[] = [];
  visit(document, {
    Pair(_key, pair) {
      const { key } = pair;
      const offset = (key as Node | null)?.range?.[0] ?? 0;
      if (!isScalar(key)) found.push(located('yaml', 'a key must be a plain value', offset));
      else if (key.value === '<<' && key.type === 'PLAIN') found.push(located('yaml', mergeText, offset));
    },
    Alias(_key, alias, path) {
      if (isWithin(path, alias, document)) found.push(located('yaml', cycleText, alias.range?.[0] ?? 0));
    },
    Collection(_key, node) {
      if (isForeign(node.tag)) found.push(located('yaml', tagText, node.range?.[0] ?? 0));
      if (isMap(node))
        for (const [name, offset] of repeatedKeys(node)) found.push(located('yaml', repeatedText(name), offset));
    },
    Scalar(_key, { value, tag, range }) {
      if (isForeign(tag)) found.push(located('yaml', tagText, range?.[0] ?? 0));
      if (!anyNumber && (typeof value === 'bigint' || (typeof value === 'number' && !isExact(value)))) {
        found.push(located('number', 'JSON cannot hold this number exactly; write it in quotes', range?.[0] ?? 0));
      }
    },
  });
  return found;
}

/** Whether an alias names a part that holds it, which would be without an end. Only then is it looked up: that is slow. */
function isWithin(path: readonly unknown[], alias: Alias, document: Document): boolean {
  const around = path.filter((node) => isCollection(node) && node.anchor === alias.source);
  return around.length > 0 && around.includes(alias.resolve(document));
}

/** Keys that stood in the map before, and where they begin. A number and a text that read the same are one key. */
function repeatedKeys({ items }: YAMLMap): [name: string, offset: number][] {
  const seen = new Set<string>();
  const repeated: [string, number][] = [];
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (seen.has(name)) repeated.push([name, key.range?.[0] ?? 0]);
    seen.add(name);
  }
  return repeated;
}

/** From 1e21 on JavaScript writes a number with an exponent, which does not look like exact digits. */
const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);

interface Child {
  readonly node: unknown;
  readonly offset: number | undefined;
}

/** Follows places as far as the document has them. A field begins at its key. */
function createPlaces(root: Node | null): (at: Place) => number {
  const fields = new WeakMap<YAMLMap, ReadonlyMap<string, Child>>();
  const fieldsOf = (map: YAMLMap): ReadonlyMap<string, Child> => {
    const known = fields.get(map) ?? childrenOf(map);
    fields.set(map, known);
    return known;
  };
  const childOf = (node: unknown, key: string | number): Child | undefined => {
    if (isMap(node)) return fieldsOf(node).get(String(key));
    if (!isSeq(node) || typeof key !== 'number') return undefined;
    const item = node.items[key];
    return item === undefined ? undefined : { node: item, offset: (item as Node).range?.[0] };
  };
  return (at) => {
    let node: unknown = root;
    let offset = root?.range?.[0] ?? 0;
    for (const key of at) {
      const child = childOf(node, key);
      if (child === undefined) break;
      offset = child.offset ?? offset;
      node = child.node;
    }
    return offset;
  };
}

function childrenOf({ items }: YAMLMap): ReadonlyMap<string, Child> {
  const named = items.flatMap(({ key, value }): [string, Child][] =>
    isScalar(key) ? [[String(key.value), { node: value, offset: key.range?.[0] }]] : [],
  );
  return new Map(named);
}

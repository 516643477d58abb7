import { isJsonObject } from '../json-object.ts';
import type { BodyExpression, BodyNode } from './body-syntax.ts';
import { JsonPlace } from './json-place.ts';

type Path = readonly string[];

/**
 * Fields of the input that a template puts between quotes, each once, where the schema admits a text with a quote: values are not
 * escaped (requirements GW-WF-16), so such a text ends the one around it. A value inside `each` and `with` is not judged.
 */
export function unescapedInputs(nodes: readonly BodyNode[], schema: unknown): Iterable<Path> {
  const found = new Map<string, Path>();
  for (const path of quoted(nodes, new JsonPlace()))
    if (admitsQuote(schema, path)) found.set(JSON.stringify(path), path);
  return found.values();
}

function* quoted(nodes: readonly BodyNode[], place: JsonPlace): Generator<Path> {
  for (const node of nodes) {
    if (node.kind === 'text') place.follow(node.text);
    else if (node.kind !== 'value') yield* quotedInBlock(node, place);
    else if (place.isQuoted) yield* inputOf(node.value);
  }
}

/** Both branches begin at one place. */
function* quotedInBlock(node: Exclude<BodyNode, { kind: 'text' | 'value' }>, place: JsonPlace): Generator<Path> {
  const otherwise = place.copy();
  const inside = [...quoted(node.body, place)];
  if (node.kind === 'if' || node.kind === 'unless') yield* inside;
  yield* quoted(node.otherwise, otherwise);
}

function* inputOf(value: BodyExpression): Generator<Path> {
  if (value.kind !== 'path' || value.from !== 'name') return;
  const [root, ...rest] = value.parts[0] === 'state' ? value.parts.slice(1) : value.parts;
  if (root === 'input' && rest.length > 0) yield rest;
}

function admitsQuote(schema: unknown, [name, ...rest]: Path): boolean {
  if (name === undefined) return isOpenText(schema);
  if (!isJsonObject(schema)) return schema !== false;
  const { properties, additionalProperties } = schema;
  const listed = isJsonObject(properties) && Object.hasOwn(properties, name);
  return admitsQuote(listed ? properties[name] : additionalProperties, rest);
}

/** A text that JSON writes with escapes. */
const isUnsafe = (value: unknown): boolean => typeof value === 'string' && JSON.stringify(value) !== `"${value}"`;

/** Keywords that may narrow a text in ways that are not judged here. */
const others = ['$ref', 'allOf', 'anyOf', 'oneOf'];
const plainFormats: readonly unknown[] = ['uuid', 'date', 'date-time', 'time', 'ipv4', 'ipv6', 'hostname'];

/** Whether a text with a quote, a backslash or a control character may fit. */
function isOpenText(schema: unknown): boolean {
  if (!isJsonObject(schema)) return schema !== false;
  const { type, format, pattern } = schema;
  if (type !== undefined && ![type].flat().includes('string')) return false;
  if (Array.isArray(schema['enum'])) return schema['enum'].some(isUnsafe);
  if ('const' in schema) return isUnsafe(schema['const']);
  if (others.some((keyword) => keyword in schema) || plainFormats.includes(format)) return false;
  return typeof pattern !== 'string' || !isNarrow(pattern);
}

/** An escape, a class of characters, or another character of a pattern. No two begin alike, and a class without an end is looked through once. */
const patternPart = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^])|\[(?:\\[^]|[^\]\\])*(?:\]|$)|[^]/g;

/** Whether a pattern is for the whole text, and names no characters but those that it lists or leaves out by name. */
function isNarrow(pattern: string): boolean {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return false;
  if (/\\[SWD]/.test(pattern)) return false;
  const parts = pattern.match(patternPart) ?? [];
  return parts.every((part) => part !== '.' && (!part.startsWith('[^') || leavesOutQuotes(part)));
}

const leavesOutQuotes = (set: string): boolean => set.includes('"') && set.includes('\\\\');

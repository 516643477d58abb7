import { limits } from '../../crds/limits.ts';
import { NestedTooDeep } from '../nesting.ts';
import { keysPrice, prices } from '../work/limits.ts';
import { LargeValue } from './large-value.ts';
import { Missing, type Reader } from './reader.ts';

/**
 * How a value prints: texts verbatim, numbers and booleans as JSON does, null as nothing, a missing value as its
 * placeholder, objects and lists as compact JSON (requirements AMB-156). Nothing is escaped (AMB-020).
 */
export function textOf(value: unknown, reader: Reader): string {
  if (typeof value === 'string') return value;
  if (value instanceof Missing) return value.placeholder;
  if (value === null || value === undefined) return '';
  return jsonOf(value, reader, 0);
}

/**
 * JSON of a value, with what the output store holds in its place. `indent` blanks for each level, 0 for one line. Each is
 * written once in a turn: values are replaced, never changed in place, so an object has one text. The Blackboard alone is changed,
 * which forgets its text (`Work.changed`).
 */
export function jsonOf(value: unknown, reader: Reader, indent: 0 | 2): string {
  if (typeof value !== 'object' || value === null) return write(value, reader, indent).text;
  const { texts, indentedTexts } = reader.work;
  const written = indent === 0 ? texts : indentedTexts;
  const known = written.get(value);
  if (known !== undefined) return known;
  const { text, isWhole } = write(value, reader, indent);
  if (isWhole) written.set(value, text);
  return text;
}

function write(value: unknown, reader: Reader, indent: number): { text: string; isWhole: boolean } {
  const isWhole = survey(value, reader, { depth: 0, indent });
  const text = JSON.stringify(isWhole ? value : complete(value, reader), null, indent) ?? '';
  // The parts were paid for on the way; this pays for blanks, quotes and escapes.
  reader.work.spend(text.length * prices.character);
  return { text, isWhole };
}

interface Level {
  readonly depth: number;
  readonly indent: number;
}

/**
 * Pays for a value before it is written as JSON in one go. Whether it holds no value of the output store.
 * @throws WorkBudgetExceeded, NestedTooDeep
 */
function survey(raw: unknown, reader: Reader, level: Level): boolean {
  const { work } = reader;
  const value = reader.load(raw);
  work.spend(prices.jsonNode + level.depth * level.indent * prices.character);
  if (typeof value === 'string') work.spend(value.length * prices.character);
  if (typeof value !== 'object' || value === null) return value === raw;
  if (level.depth >= limits.jsonDepth) throw new NestedTooDeep('a value that is printed');
  const below = { depth: level.depth + 1, indent: level.indent };
  let isWhole = value === raw;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) isWhole = survey(item, reader, below) && isWhole;
    return isWhole;
  }
  const keys = Object.keys(value);
  work.spend(keysPrice(keys.length));
  for (const key of keys) {
    work.spend(key.length * prices.character);
    isWhole = survey((value as Readonly<Record<string, unknown>>)[key], reader, below) && isWhole;
  }
  return isWhole;
}

/** A copy with what the output store holds in its place; what was loaded holds no more such places. */
function complete(value: unknown, reader: Reader): unknown {
  if (value instanceof LargeValue) return reader.load(value);
  if (typeof value !== 'object' || value === null) return value;
  reader.work.spend(prices.jsonNode);
  if (Array.isArray(value)) return value.map((item) => complete(item, reader));
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    reader.work.spend(prices.jsonKey);
    copy[key] = complete((value as Readonly<Record<string, unknown>>)[key], reader);
  }
  return copy;
}

import { prices, templateLimits } from './limits.ts';
import { Missing, type Reader } from './reader.ts';
import { TemplateBudgetExceeded } from './work.ts';

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

/** JSON of a value, with what the output store holds in its place. `indent` blanks for each level, 0 for one line. */
export function jsonOf(value: unknown, reader: Reader, indent: number): string {
  const text = JSON.stringify(complete(value, reader, 0), null, indent) ?? '';
  // The parts were paid for on the way; this pays for blanks, quotes and escapes.
  reader.work.spend(text.length * prices.character);
  return text;
}

/** A copy without stored values, made step by step so that the work is counted before JSON is written in one go. */
function complete(raw: unknown, reader: Reader, depth: number): unknown {
  reader.work.spend(prices.jsonNode);
  const value = reader.load(raw);
  if (typeof value === 'string') reader.work.spend(value.length * prices.character);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= templateLimits.jsonDepth) {
    throw new TemplateBudgetExceeded(`a value is nested deeper than ${templateLimits.jsonDepth} levels`);
  }
  reader.work.spend(indentation(depth));
  if (Array.isArray(value)) return value.map((item) => complete(item, reader, depth + 1));
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    reader.work.spend(key.length * prices.character + indentation(depth));
    copy[key] = complete((value as Record<string, unknown>)[key], reader, depth + 1);
  }
  return copy;
}

/** Pretty-printing writes blanks for every entry, so deep values cost more than their characters. */
function indentation(depth: number): number {
  return depth * 2 * prices.character;
}

import { limits } from '../../crds/limits.ts';
import { NestedTooDeep } from '../nesting.ts';
import { readJsonString } from './json-string.ts';
import { prices } from './limits.ts';
import type { Work } from './work.ts';

const quote = 0x22;
const colon = 0x3a;
const comma = 0x2c;

/** Counts of a JSON text, taken in one pass before any value is made of it. */
interface Census {
  nodes: number;
  keys: number;
  /** Keys that differ. */
  newKeys: number;
  depth: number;
}

/**
 * The value of a JSON text, wrapped so that it differs from none; undefined for a text that is no JSON. It is paid
 * for by what it holds before it is parsed.
 * @throws WorkBudgetExceeded, NestedTooDeep for JSON with more than `levels` levels.
 */
export function parseJson(
  text: string,
  work: Work,
  levels: number = limits.jsonDepth,
): { readonly value: unknown } | undefined {
  work.spend(text.length * prices.character);
  const { nodes, keys, newKeys, depth } = census(text);
  work.spend(nodes * prices.parsedNode + keys * prices.parsedKey + newKeys * prices.parsedNewKey);
  const parsed = tryParse(text);
  if (parsed !== undefined && depth > levels) throw new NestedTooDeep('a text that is read as JSON');
  return parsed;
}

/** Right for JSON; any other text is counted somehow. */
function census(text: string): Census {
  const found = { nodes: 1, keys: 0, newKeys: 0, depth: 0 };
  const known = new Set<number>();
  const string = { end: 0, hash: 0, surplus: 0 };
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      readJsonString(text, index, string);
      index = string.end;
    } else if (code === comma) found.nodes++;
    else if (code === colon) {
      found.keys++;
      known.add(string.hash);
    } else if (isOpening(code)) {
      found.nodes++;
      found.depth = Math.max(found.depth, ++depth);
    } else if (isClosing(code)) depth--;
  }
  return { ...found, newKeys: known.size };
}

/** `[` and `{`, `]` and `}` differ in one bit. */
const isOpening = (code: number): boolean => (code | 0x20) === 0x7b;
const isClosing = (code: number): boolean => (code | 0x20) === 0x7d;

function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // No JSON after all: a plain text, whose meaning is for the caller.
    return undefined;
  }
}

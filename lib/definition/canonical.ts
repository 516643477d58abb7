import { hash } from 'node:crypto';

/** Levels that are written by recursion, which takes least time. The stack has room for some thousand. */
const recursiveLevels = 256;

/**
 * JSON with sorted keys: equal content gives equal text, whatever order it was written in. The text grows in place: an array
 * of texts to join takes three times as long for a megabyte of small lists. Any depth is written: what kubectl has stored may have
 * 10,000 levels.
 */
export function canonicalJson(value: unknown, levels: number = recursiveLevels): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (levels === 0) return deepText(value);
  if (!Array.isArray(value)) return objectText(value, levels);
  let text = '';
  for (const child of value) text += `${text === '' ? '' : ','}${canonicalJson(child, levels - 1)}`;
  return `[${text}]`;
}

function objectText(value: object, levels: number): string {
  let text = '';
  // Sorted as texts, without a comparison of ours, which would take most of the time for an object of many keys.
  for (const key of Object.keys(value).toSorted()) {
    const child = (value as Readonly<Record<string, unknown>>)[key];
    if (child !== undefined)
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(child, levels - 1)}`;
  }
  return `{${text}}`;
}

/** A piece of text, or a value that is still to be written. */
type Part = { readonly text: string } | { readonly value: unknown };

/** The same text without a stack. */
function deepText(value: object): string {
  let text = '';
  const open: Part[] = [{ value }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if ('text' in part) text += part.text;
    else if (typeof part.value !== 'object' || part.value === null) text += JSON.stringify(part.value) ?? 'null';
    else for (const inner of partsOf(part.value).toReversed()) open.push(inner);
  }
  return text;
}

function partsOf(container: object): readonly Part[] {
  if (Array.isArray(container)) {
    const items = (container as unknown[]).flatMap((value, at): Part[] => [{ text: at === 0 ? '[' : ',' }, { value }]);
    return [...(items.length === 0 ? [{ text: '[' }] : items), { text: ']' }];
  }
  const members = Object.entries(container)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value], at): Part[] => [{ text: `${at === 0 ? '{' : ','}${JSON.stringify(key)}:` }, { value }]);
  return [...(members.length === 0 ? [{ text: '{' }] : members), { text: '}' }];
}

/** SHA-256 of the canonical JSON, lower-case hex. */
export const canonicalHash = (value: unknown): string => hash('sha256', canonicalJson(value));

import { hash } from 'node:crypto';

/** JSON with sorted keys: equal content gives equal text, whatever order it was written in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields: string[] = [];
  // Sorted as texts, without a comparison of ours, which would take most of the time for an object of many keys.
  for (const key of Object.keys(value).toSorted()) {
    const child = (value as Readonly<Record<string, unknown>>)[key];
    if (child !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalJson(child)}`);
  }
  return `{${fields.join(',')}}`;
}

/** SHA-256 of the canonical JSON, lower-case hex. */
export const canonicalHash = (value: unknown): string => hash('sha256', canonicalJson(value));

import { hash } from 'node:crypto';

/** JSON with sorted keys: equal content gives equal text, whatever order it was written in. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, child]) => child !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, child]) => `${JSON.stringify(key)}:${canonicalJson(child)}`).join(',')}}`;
}

/** SHA-256 of the canonical JSON, lower-case hex. */
export const canonicalHash = (value: unknown): string => hash('sha256', canonicalJson(value));

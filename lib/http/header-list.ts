import type { RequestProblem } from './http-error.ts';
import { invalidRequest } from './request-errors.ts';

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Headers of which a request has at most one, so that everybody who reads it reads the same. */
export const singleHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-type',
  'host',
  'idempotency-key',
  'last-event-id',
  'x-idempotency-key',
  'x-request-id',
  'x-tenant-id',
]);

/** Node's flat list of names and values in pairs, names in lower case. */
export function toHeaderList(raw: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2)
    list.push([(raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '']);
  return list;
}

/** Throws HttpError when a header that may be sent once, or one of `names`, was sent twice. */
export function requireSingleHeaders(raw: readonly string[], names: readonly string[] = []): void {
  const seen = new Set<string>();
  const problems: RequestProblem[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!singleHeaders.has(name) && !names.includes(name)) continue;
    if (seen.has(name)) problems.push({ path: `header.${name}`, message: 'is sent twice' });
    seen.add(name);
  }
  if (problems.length > 0) throw invalidRequest(`${problems[0]?.path} is sent twice`, problems);
}

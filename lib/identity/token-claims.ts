import { identityLimits } from './limits.ts';

/** When what a token says ends, in milliseconds since the Unix epoch; clocks may differ by the leeway (AMB-148). */
export function validUntil({ exp }: Readonly<Record<string, unknown>>): number {
  return typeof exp === 'number' ? (exp + identityLimits.leewaySeconds) * 1_000 : Number.POSITIVE_INFINITY;
}

/** A claim by name, or undefined. A name that is no claim of its own may be a path: `realm_access.roles`. */
export function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** A claim that is text and not empty. */
export function textClaim(claims: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = claimAt(claims, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Requirements AMB-122: one value, or a list of values. Any other element of the list is left out. */
export function listClaim(claims: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = claimAt(claims, name);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((entry): entry is string => typeof entry === 'string' && entry !== '');
}

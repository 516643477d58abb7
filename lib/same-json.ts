import { isJsonObject } from './json-object.ts';
import { keysPrice, prices } from './work/limits.ts';
import type { Work } from './work/work.ts';

/** The budget of a comparison. */
type Payer = Pick<Work, 'spend'>;

/**
 * Whether two values are the same JSON, whatever the order of keys; a member that is undefined counts as absent. One pass
 * without a text or a copy, which ends at the first difference.
 */
export function sameJson(left: unknown, right: unknown, payer?: Payer): boolean {
  payer?.spend(prices.comparedNode);
  if (left === right) return true;
  if (Array.isArray(left)) return Array.isArray(right) && sameLists(left, right, payer);
  return isJsonObject(left) && isJsonObject(right) && sameMembers(left, right, payer);
}

type Members = Readonly<Record<string, unknown>>;

function sameLists(left: readonly unknown[], right: readonly unknown[], payer: Payer | undefined): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (!sameJson(left[index], right[index], payer)) return false;
  return true;
}

function sameMembers(left: Members, right: Members, payer: Payer | undefined): boolean {
  let more = 0;
  const keys = Object.keys(left);
  payer?.spend(keysPrice(keys.length));
  for (const key of keys) {
    if (left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || !sameJson(left[key], right[key], payer)) return false;
    more += 1;
  }
  for (const key of Object.keys(right)) if (right[key] !== undefined) more -= 1;
  return more === 0;
}

import { isJsonObject } from './json-object.ts';
import { keysPrice, prices } from './work/limits.ts';
import type { Work } from './work/work.ts';

/** The budget of a comparison. */
type Payer = Pick<Work, 'spend'>;

type Members = Readonly<Record<string, unknown>>;

/** Objects and lists that are still to be compared, each before its counterpart. */
interface Open {
  readonly values: unknown[];
  readonly payer: Payer | undefined;
}

/**
 * Whether two values are the same JSON, whatever the order of keys; a member that is undefined counts as absent. One pass
 * without a text or a copy, which ends at the first difference. It needs no stack: what kubectl has stored may have 10,000 levels.
 */
export function sameJson(left: unknown, right: unknown, payer?: Payer): boolean {
  const open: Open = { values: [], payer };
  if (!mayBeSame(left, right, open)) return false;
  while (open.values.length > 0) {
    const other = open.values.pop();
    if (!areSame(open.values.pop(), other, open)) return false;
  }
  return true;
}

/** False where two values differ at a glance; objects and lists are left for later. */
function mayBeSame(left: unknown, right: unknown, { values, payer }: Open): boolean {
  payer?.spend(prices.comparedNode);
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  values.push(left, right);
  return true;
}

/** Whether an object or list is the same as another one, beside the objects and lists in it. */
function areSame(left: unknown, right: unknown, open: Open): boolean {
  if (Array.isArray(left)) return Array.isArray(right) && haveSameItems(left, right, open);
  return isJsonObject(left) && isJsonObject(right) && haveSameMembers(left, right, open);
}

function haveSameItems(left: readonly unknown[], right: readonly unknown[], open: Open): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (!mayBeSame(left[index], right[index], open)) return false;
  return true;
}

function haveSameMembers(left: Members, right: Members, open: Open): boolean {
  let more = 0;
  const keys = Object.keys(left);
  open.payer?.spend(keysPrice(keys.length));
  for (const key of keys) {
    if (left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || !mayBeSame(left[key], right[key], open)) return false;
    more += 1;
  }
  for (const key of Object.keys(right)) if (right[key] !== undefined) more -= 1;
  return more === 0;
}

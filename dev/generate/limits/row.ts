import { limits } from '../../../crds/limits.ts';

type LimitKey = keyof typeof limits;
type NumberKey = { [Key in LimitKey]: (typeof limits)[Key] extends number ? Key : never }[LimitKey];

/** A ceiling that a user can meet. */
export interface LimitRow {
  /** The bounded value, in the words of the field. */
  readonly what: string;
  readonly most: number;
  /** Its name in crds/limits.ts, where that has it. */
  readonly key?: LimitKey;
  /** Unit of the number; empty where `what` says it. */
  readonly unit: string;
  /** The message that names the ceiling, or the part of it that is always the same; `…` marks the variable part. */
  readonly says: string;
  /** Effect beyond it where nothing is refused; then `says` is empty. */
  readonly otherwise?: string;
}

export interface LimitGroup {
  readonly title: string;
  readonly rows: readonly LimitRow[];
}

export const row = (what: string, most: number | NumberKey, unit: string, says: string): LimitRow =>
  typeof most === 'number' ? { what, most, unit, says } : { what, most: limits[most], key: most, unit, says };
export const items = (what: string, most: number | NumberKey): LimitRow =>
  row(what, most, 'items', 'must have at most … items');
export const entries = (what: string, most: NumberKey): LimitRow =>
  row(what, most, 'entries', 'must have at most … entries');
export const characters = (what: string, most: number | NumberKey): LimitRow =>
  row(what, most, 'characters', 'must have at most … characters');

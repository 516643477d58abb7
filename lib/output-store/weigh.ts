import { limits } from '../../crds/limits.ts';
import { NestedTooDeep } from '../nesting.ts';
import { LargeValue } from '../template/large-value.ts';
import { keysPrice, prices } from '../work/limits.ts';
import type { Work } from '../work/work.ts';
import { RawText } from './raw-text.ts';

/** Longer texts are stored as they are; shorter ones become JSON on the way. */
const longText = limits.inlineValueBytes;

/**
 * Pays for a value before it is put on the Blackboard: for being copied, measured, made small and hashed.
 * @throws WorkBudgetExceeded, NestedTooDeep where it is deeper than JSON is taken anywhere.
 */
export function weigh(value: unknown, work: Work, depth = 0): void {
  work.spend(prices.jsonNode);
  if (isText(value)) return weighText(value, work);
  if (typeof value !== 'object' || value === null || value instanceof LargeValue) return;
  if (depth >= limits.jsonDepth) throw new NestedTooDeep('a value for the Blackboard');
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) weigh(item, work, depth + 1);
    return;
  }
  const keys = Object.keys(value);
  work.spend(keysPrice(keys.length));
  for (const key of keys) weighMember(key, (value as Readonly<Record<string, unknown>>)[key], { work, depth });
}

function weighMember(key: string, value: unknown, { work, depth }: { work: Work; depth: number }): void {
  work.spend(key.length * prices.character);
  weigh(value, work, depth + 1);
}

const isText = (value: unknown): value is string | RawText => typeof value === 'string' || value instanceof RawText;

/** A value of two places is stored once. */
function weighText(text: string | RawText, work: Work): void {
  if (typeof text === 'string' && text.length <= longText) return work.spend(text.length * prices.changedCharacter);
  if (work.stored.has(text)) return;
  work.stored.add(text);
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.bytes.byteLength;
  work.spend(bytes * prices.storedByte);
}

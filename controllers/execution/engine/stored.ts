import { limits } from '../../../crds/limits.ts';
import type { StoredValue } from '../../../crds/schema/workflow-execution-status.ts';
import { NestedTooDeep } from '../../../lib/nesting.ts';
import { open } from '../../../lib/output-store/stored-value.ts';
import { LargeValue } from '../../../lib/template/large-value.ts';
import type { Draft } from './draft.ts';
import { lackingValues } from './lacking.ts';

/**
 * A stored value in full.
 * @throws LackingFacts naming every blob of it that is not loaded yet, AppError `OutputLost` where one is lost,
 * WorkBudgetExceeded, NestedTooDeep.
 */
export function loadStored(draft: Draft, stored: StoredValue): unknown {
  return resolve(draft, open(stored, draft.executionUid));
}

/** Any value with its LargeValues replaced by their values. */
export function resolve(draft: Draft, value: unknown): unknown {
  const lacking: string[] = [];
  const resolved = replaceLarge(value, (large) => {
    draft.work.load(large.ref, large.bytes, large.isJson);
    if (!draft.facts.loaded.has(large.ref)) lacking.push(large.ref);
    return draft.facts.loaded.get(large.ref);
  });
  if (lacking.length > 0) throw lackingValues(draft, lacking);
  return resolved;
}

function replaceLarge(value: unknown, load: (large: LargeValue) => unknown, depth = 0): unknown {
  if (value instanceof LargeValue) return load(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= limits.jsonDepth) throw new NestedTooDeep('a stored value');
  if (Array.isArray(value)) return value.map((item) => replaceLarge(item, load, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, replaceLarge(child, load, depth + 1)]));
}

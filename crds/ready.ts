import { conditionTypes } from './conditions.ts';
import type { Condition } from './schema/condition.ts';

interface Judged {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** What the controllers say of this generation, by default of the object as it is; undefined until they have looked. */
export function readyOf({ metadata, status }: Judged, generation = metadata.generation ?? 0): Condition | undefined {
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return (ready?.observedGeneration ?? 0) >= generation ? ready : undefined;
}

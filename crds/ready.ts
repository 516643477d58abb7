import { conditionTypes } from './conditions.ts';
import type { Condition } from './schema/condition.ts';

interface Judged {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** The controllers' verdict on this generation, by default the object's own; undefined before they have one. */
export function readyOf({ metadata, status }: Judged, generation = metadata.generation ?? 0): Condition | undefined {
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  return (ready?.observedGeneration ?? 0) >= generation ? ready : undefined;
}

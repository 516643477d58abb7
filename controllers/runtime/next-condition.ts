import type { Condition } from '../../crds/schema/condition.ts';

/** An object with conditions, as it was read. */
interface Judged {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The condition that says so, for the generation that was read. It keeps its time while its status stays the same. */
export function nextCondition({ metadata, status }: Judged, verdict: Verdict, now: number): Condition {
  const before = status?.conditions?.find(({ type }) => type === verdict.type);
  return {
    ...verdict,
    lastTransitionTime: before?.status === verdict.status ? before.lastTransitionTime : new Date(now).toISOString(),
    observedGeneration: metadata.generation,
  };
}

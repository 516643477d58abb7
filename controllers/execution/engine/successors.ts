import { limits } from '../../../crds/limits.ts';
import type { Draft } from './draft.ts';

/** Notes which executions run this one again; those that were deleted meanwhile stay named. */
export function noteSuccessors({ status, facts }: Draft): void {
  const { successors = [] } = facts;
  if (successors.length === 0) return;
  const present = new Set(successors.map(({ uid }) => uid));
  const gone = (status.successors ?? []).filter(({ uid }) => !present.has(uid));
  status.successors = [...gone, ...successors].slice(-limits.successors);
}

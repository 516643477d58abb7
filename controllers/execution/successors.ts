import { limits } from '../../crds/limits.ts';
import type { Draft } from './draft.ts';

/** Notes which executions run this one again; those that were deleted meanwhile stay named. */
export function noteSuccessors({ status, facts }: Draft): void {
  const { successors = [] } = facts;
  if (successors.length === 0) return;
  const known = new Map([...(status.successors ?? []), ...successors].map((one) => [one.uid, one]));
  status.successors = [...known.values()].slice(-limits.successors);
}

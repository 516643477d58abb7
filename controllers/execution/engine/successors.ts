import { limits } from '../../../crds/limits.ts';
import type { Draft } from './draft.ts';

/** Notes which executions run this one again; those that were deleted meanwhile stay named. */
export function noteSuccessors(draft: Draft): void {
  const { status, facts } = draft;
  const { successors = [] } = facts;
  if (successors.length === 0) return;
  const present = new Set(successors.map(({ uid }) => uid));
  const gone = (status.successors ?? []).filter(({ uid }) => !present.has(uid));
  const all = [...gone, ...successors].slice(-limits.successors);
  draft.change({ kind: 'status', fields: { successors: all } });
}

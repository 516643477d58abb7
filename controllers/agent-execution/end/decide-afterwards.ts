import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { type AfterEnd, type ArchiveFact, afterEnd, recordedOf } from '../../archiving/decide-archiving.ts';

interface AfterwardsFacts {
  readonly now: number;
  /** How far its record is; undefined: there is no archive for it. */
  readonly record: ArchiveFact | undefined;
  /** Seconds from the end of an execution to its deletion, where it names none. */
  readonly ttlSeconds: number;
  /** How long an execution outlives its time while it cannot be archived. */
  readonly graceMs: number;
}

/** Remaining work for an execution that has ended. A child is deleted with its parent. Pure. */
export function decideAfterwards(execution: AgentExecution, facts: AfterwardsFacts): AfterEnd {
  const { now, record, ttlSeconds, graceMs } = facts;
  const recorded = recordedOf(execution, execution.status ?? {}, record);
  const { parent, ttl_seconds_after_finished: asked } = execution.spec;
  const seconds = asked ?? (parent === undefined ? ttlSeconds : undefined);
  const due = seconds === undefined ? undefined : recorded.finishedAt + seconds * 1_000;
  const after = afterEnd(recorded, { now, due, graceMs });
  const { removal } = after;
  if (removal.kind !== 'delete' || removal.unarchived === undefined) return after;
  // No record is begun for an execution that is deleted without one.
  return { actions: recorded.isHeld ? [{ kind: 'let_execution_go' }] : [], removal };
}

import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { isHeldForArchive } from '../../archiving/archive-finalizer.ts';
import { type ArchiveFact, type ArchiveStep, archiveSteps, removalOf } from '../../archiving/decide-archiving.ts';

interface AfterwardsFacts {
  readonly now: number;
  /** How far its record is; undefined: there is no archive for it. */
  readonly record: ArchiveFact | undefined;
  /** Seconds from the end of an execution to its deletion, where it names none. */
  readonly ttlSeconds: number;
  /** How long an execution outlives its time while it cannot be archived. */
  readonly graceMs: number;
}

/** Remaining work for an execution that has ended. */
interface Afterwards {
  readonly steps: readonly ArchiveStep[];
  /** `why`: there is no record of it, for this reason. */
  readonly removal?: { readonly why?: string };
  /** When to look again at its time, in milliseconds since the epoch. */
  readonly lookAt?: number;
}

/** Has the execution archived, and deleted after its TTL. A child is deleted with its parent. Pure. */
export function decideAfterwards(execution: AgentExecution, facts: AfterwardsFacts): Afterwards {
  const { now, record: fact, graceMs } = facts;
  const { finished_at: finished = '', archived_at: archivedAt } = execution.status ?? {};
  const finishedAt = Date.parse(finished);
  const isArchived = archivedAt !== undefined;
  const recorded = { fact, isArchived, isHeld: isHeldForArchive(execution), finishedAt };
  const steps = archiveSteps(recorded, now);
  const { parent, ttl_seconds_after_finished: asked } = execution.spec;
  const seconds = asked ?? (parent === undefined ? facts.ttlSeconds : undefined);
  if (seconds === undefined) return { steps };
  const due = finishedAt + seconds * 1_000;
  if (now < due) return { steps, lookAt: due };
  const removal = removalOf(recorded, { now, due, graceMs });
  if (removal.kind === 'wait') return { steps, lookAt: removal.until };
  const { unarchived: why } = removal;
  if (why === undefined) return { steps, removal: {} };
  return { steps: isHeldForArchive(execution) ? [{ kind: 'let_go' }] : [], removal: { why } };
}

import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { holdForArchive, letGoOfArchive } from '../../archiving/archive-finalizer.ts';
import type { Archives } from '../../archiving/archives.ts';
import type { AfterEnd, ArchiveAction } from '../../archiving/decide-archiving.ts';
import { releaseRecord } from '../../archiving/release-record.ts';
import { deleteAsRead } from '../../runtime/delete-as-read.ts';
import type { EventRecorder } from '../../runtime/events.ts';
import type { FactSink } from '../../runtime/facts.ts';
import type { ReconcileResult } from '../../runtime/outcome.ts';
import { writeStatus } from '../../runtime/write-status.ts';
import { decideAfterwards } from './decide-afterwards.ts';
import { endFact } from './end-fact.ts';

export interface AfterwardsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'delete' | 'jsonPatch' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly facts: FactSink;
  readonly executions: Pick<CacheReader<AgentExecution>, 'remember' | 'get'>;
  readonly archives: Archives<AgentExecution>;
  /** Seconds from the end of an execution to its deletion, where it names none. */
  readonly ttlSeconds: number;
  /** How long an execution outlives its time while it cannot be archived. */
  readonly archiveGraceSeconds: number;
  /** Whether a namespace is being deleted. */
  readonly isEnding: (namespace: string) => boolean;
}

/** Raises the event that an execution has ended, has it archived, and deletes it when its time is over. */
export async function afterwards(deps: AfterwardsDeps, ended: AgentExecution): Promise<ReconcileResult> {
  const fact = endFact(ended);
  if (fact !== undefined) deps.facts.raise(fact);
  const execution = await noteRecord(deps, ended, decideNow(deps, ended));
  const { actions, removal, wakeAt = Number.POSITIVE_INFINITY } = decideNow(deps, execution);
  for (const action of actions) await take(deps, execution, action);
  if (removal.kind === 'delete') {
    await remove(deps, execution, removal);
    return undefined;
  }
  const next = Math.min(wakeAt, removal.kind === 'wait' ? removal.until : Number.POSITIVE_INFINITY);
  if (next === Number.POSITIVE_INFINITY) return undefined;
  return { requeueAfterMs: next - deps.clock.now(), reason: 'time to live' };
}

const decideNow = (deps: AfterwardsDeps, execution: AgentExecution): AfterEnd =>
  decideAfterwards(execution, {
    now: deps.clock.now(),
    record: deps.archives.stateOf(execution),
    ttlSeconds: deps.ttlSeconds,
    graceMs: graceOf(deps),
  });

const graceOf = ({ archiveGraceSeconds }: AfterwardsDeps): number => archiveGraceSeconds * 1_000;

const held = ({ kube, executions: cache }: AfterwardsDeps) => ({ kube, cache, resource: agentExecutions });

/** Says in the status that the record is written, once it is. */
async function noteRecord(
  deps: AfterwardsDeps,
  execution: AgentExecution,
  { archivedAt }: AfterEnd,
): Promise<AgentExecution> {
  if (archivedAt === undefined) return execution;
  return writeStatus(held(deps), execution, { ...execution.status, archived_at: archivedAt });
}

async function take(deps: AfterwardsDeps, execution: AgentExecution, { kind }: ArchiveAction): Promise<void> {
  switch (kind) {
    case 'archive_execution':
      return deps.archives.begin(execution);
    case 'hold_execution':
      return holdForArchive(held(deps), execution);
    case 'let_execution_go':
      return letGoOfArchive(held(deps), execution);
  }
}

type Deletion = Extract<AfterEnd['removal'], { kind: 'delete' }>;

async function remove(deps: AfterwardsDeps, execution: AgentExecution, { unarchived }: Deletion): Promise<void> {
  if (unarchived !== undefined) {
    const { why, reason, message: note } = unarchived;
    deps.events.record({
      resource: agentExecutions,
      object: execution,
      type: 'Warning',
      reason,
      action: 'Delete',
      note,
    });
    deps.archives.unarchived(execution, why);
  }
  await deleteAsRead(deps.kube, agentExecutions, execution);
}

/** An execution that is being deleted is held until its record is written, for the grace at most. */
export async function letGo(deps: AfterwardsDeps, execution: AgentExecution): Promise<ReconcileResult> {
  const releasing = { ...held(deps), archives: deps.archives, graceMs: graceOf(deps) };
  const requeueAfterMs = await releaseRecord(releasing, execution, {
    now: deps.clock.now(),
    isEnding: deps.isEnding(execution.metadata.namespace ?? ''),
  });
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs, reason: 'archive' };
}

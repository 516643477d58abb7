import type { EventReason } from '../../../crds/conditions.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { holdForArchive, letGoOfArchive } from '../../archiving/archive-finalizer.ts';
import type { Archives } from '../../archiving/archives.ts';
import type { ArchiveStep } from '../../archiving/decide-archiving.ts';
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

/** Tells that an execution has ended, has it archived, and deletes it when its time is over. */
export async function afterwards(deps: AfterwardsDeps, ended: AgentExecution): Promise<ReconcileResult> {
  const fact = endFact(ended);
  if (fact !== undefined) deps.facts.raise(fact);
  const execution = await noteRecord(deps, ended);
  const now = deps.clock.now();
  const { steps, removal, lookAt } = decideAfterwards(execution, {
    now,
    record: deps.archives.stateOf(execution),
    ttlSeconds: deps.ttlSeconds,
    graceMs: graceOf(deps),
  });
  for (const step of steps) await take(deps, execution, step);
  if (removal !== undefined) {
    await remove(deps, execution, removal.why);
    return undefined;
  }
  const times = [lookAt, ...steps.map((step) => (step.kind === 'wake' ? step.at : undefined))];
  const next = Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY));
  return next === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: next - now, reason: 'time to live' };
}

const graceOf = ({ archiveGraceSeconds }: AfterwardsDeps): number => archiveGraceSeconds * 1_000;

const held = ({ kube, executions: cache }: AfterwardsDeps) => ({ kube, cache, resource: agentExecutions });

/** Says in the status that the record is written, once it is. */
async function noteRecord(deps: AfterwardsDeps, execution: AgentExecution): Promise<AgentExecution> {
  const record = deps.archives.stateOf(execution);
  if (record?.kind !== 'archived' || execution.status?.archived_at !== undefined) return execution;
  const status = { ...execution.status, archived_at: new Date(record.at).toISOString() };
  return writeStatus(held(deps), execution, status);
}

async function take(deps: AfterwardsDeps, execution: AgentExecution, step: ArchiveStep): Promise<void> {
  switch (step.kind) {
    case 'write':
      return deps.archives.begin(execution);
    case 'hold':
      return holdForArchive(held(deps), execution);
    case 'let_go':
      return letGoOfArchive(held(deps), execution);
    case 'wake':
      return undefined;
  }
}

async function remove(deps: AfterwardsDeps, execution: AgentExecution, why: string | undefined): Promise<void> {
  if (why !== undefined) {
    const reason: EventReason = 'ExecutionNotArchived';
    const note = `deleted ${deps.archiveGraceSeconds} s after its time without a record: ${why}`;
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

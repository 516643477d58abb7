import { conditionTypes, type GitBindingReason } from '../../crds/conditions.ts';
import type { GitBinding, GitBindingStatus } from '../../crds/schema/git-binding.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { cutText } from '../../lib/cut-text.ts';
import { defined } from '../../lib/defined.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import { type BegunJob, type Job, sourceText } from './decide.ts';
import { gitLimits } from './limits.ts';
import type { JobEnd } from './read-answer.ts';

interface Said {
  readonly reason: GitBindingReason;
  readonly message: string;
}

/** `fields` over the status as it was; the phase and the condition follow from them. `why` is what blocks it. */
export function statusWith(
  binding: GitBinding,
  now: number,
  fields: Partial<GitBindingStatus>,
  why?: Said,
): GitBindingStatus {
  const next: GitBindingStatus = { ...binding.status, ...fields };
  const said = why === undefined || why.reason === 'QuotaExceeded' ? saying(next, why) : why;
  return {
    ...next,
    observedGeneration: binding.metadata.generation ?? 0,
    phase: phaseOf(next, why),
    conditions: [
      nextCondition(
        binding,
        {
          type: conditionTypes.ready,
          status: said.reason === 'Synced' ? 'True' : 'False',
          reason: said.reason,
          message: cutText(said.message, gitLimits.messageLength),
        },
        now,
      ),
    ],
  };
}

function phaseOf({ request, sync_error, commit }: GitBindingStatus, why: Said | undefined): GitBindingStatus['phase'] {
  if (why !== undefined && why.reason !== 'QuotaExceeded')
    return why.reason === 'VolumesPending' ? 'pending' : 'failed';
  if (request?.phase === 'running') return 'working';
  if (sync_error !== undefined) return 'failed';
  return commit === undefined ? 'pending' : 'ready';
}

/** `waits` is for what the binding waits; it is no news where there is a tree, or why there is none. */
function saying({ request, sync_error, commit, branch }: GitBindingStatus, waits?: Said): Said {
  if (sync_error !== undefined) return { reason: 'SyncFailed', message: sync_error };
  if (commit !== undefined)
    return { reason: 'Synced', message: `the tree is that of ${commit}${branch === undefined ? '' : ` on ${branch}`}` };
  if (waits !== undefined) return waits;
  if (request?.phase === 'running') return { reason: 'Working', message: waitOf(request) };
  return { reason: 'Pending', message: 'the first sync has not begun' };
}

const waitOf = ({ op, message }: NonNullable<GitBindingStatus['request']>): string =>
  message === undefined ? `a pod works: ${op}` : `${op} waits: ${message}`;

/** An operation is under way. It is written down before its pod is made. */
export function begunStatus(binding: GitBinding, job: BegunJob, volume: Volume, now: number): GitBindingStatus {
  const { name, uid = '' } = volume.metadata;
  const isSame = binding.status?.volume?.uid === uid;
  const { id, op, attempt, startedAt, source } = job;
  return statusWith(binding, now, {
    ...(isSame ? {} : emptyTree),
    volume: { name, uid },
    request: { id, op, phase: 'running', attempt, started_at: startedAt, source },
  });
}

/** A new volume holds nothing of the one before. */
const emptyTree: Partial<GitBindingStatus> = {
  commit: undefined,
  branch: undefined,
  ahead: undefined,
  bytes: undefined,
  synced_at: undefined,
};

/** The next pod of an operation, or the name of the one that was made, or for what it waits. */
export function goingStatus(
  binding: GitBinding,
  now: number,
  { attempt, pod }: Pick<Job, 'attempt' | 'pod'>,
  waits?: Said,
): GitBindingStatus {
  const { request } = binding.status ?? {};
  if (request === undefined) return statusWith(binding, now, {});
  const { pod: _pod, message: _message, ...rest } = request;
  const going = {
    ...rest,
    attempt,
    ...(pod === undefined ? {} : { pod }),
    ...(waits === undefined ? {} : { message: cutText(waits.message, gitLimits.messageLength) }),
  };
  return statusWith(binding, now, { request: going }, waits?.reason === 'QuotaExceeded' ? waits : undefined);
}

/** An operation has ended. */
export function endedStatus(binding: GitBinding, job: Job, end: JobEnd, now: number): GitBindingStatus {
  const at = new Date(now).toISOString();
  const isAsked = binding.spec.request?.id === job.id;
  const { attempt, id, op } = job;
  const { started_at = at } = binding.status?.request ?? {};
  const answer = { id, op, attempt, started_at, finished_at: at, ...(end.kind === 'done' ? succeeded : failure(end)) };
  return statusWith(binding, now, {
    ...(isAsked ? { answered: { ...answer, ...outputOf(end) } } : {}),
    ...(op === 'sync' ? { ...triedOf(job), tried_at: at, sync_error: syncError(end) } : {}),
    ...(end.kind === 'done' ? treeOf(op, end, at) : {}),
    request: { ...answer, ...defined({ source: job.source }) },
  });
}

/** The source that the sync used; one that never began has tried nothing. */
const triedOf = ({ source }: Job): Partial<GitBindingStatus> =>
  source === undefined ? {} : { tried_source: sourceText(source) };

const succeeded = { phase: 'succeeded' } as const;

const outputOf = (end: JobEnd): { readonly output?: string } =>
  end.kind === 'done' && end.output !== undefined ? { output: end.output } : {};

const failure = ({ error, message }: Extract<JobEnd, { kind: 'failed' }>) =>
  ({ phase: 'failed', error, message: cutText(message, gitLimits.messageLength) }) as const;

/** Refusals that protect work of the tenant: the tree is as it was left, and nothing of the binding failed. */
const ownWork: ReadonlySet<string> = new Set(['UncommittedChanges', 'UnpushedCommits']);

const syncError = (end: JobEnd): string | undefined =>
  end.kind === 'done' || ownWork.has(end.error)
    ? undefined
    : cutText(`${end.error}: ${end.message}`, gitLimits.messageLength);

function treeOf(op: Job['op'], { tree }: Extract<JobEnd, { kind: 'done' }>, at: string): Partial<GitBindingStatus> {
  const { commit, branch, ahead, bytes } = tree;
  return { commit, branch, ahead, ...(op === 'sync' ? { bytes, synced_at: at } : {}) };
}

import type { GitBindingReason } from '../../crds/conditions.ts';
import type { GitBinding, GitOperation, GitSource } from '../../crds/schema/git-binding.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import { defined } from '../../lib/defined.ts';

/** One operation on a binding. */
export interface Job {
  readonly id: string;
  readonly op: GitOperation;
  readonly message?: string | undefined;
  /** Which pod of the operation, from 1. */
  readonly attempt: number;
  /** Its name, once it was made. */
  readonly pod?: string | undefined;
  /** Absent: it has not begun. */
  readonly source?: GitSource | undefined;
}

/** An operation that has begun; its pods are the same whatever is written to the spec meanwhile. */
export interface BegunJob extends Job {
  /** When, as the status says it; a reused id is thus another operation. */
  readonly startedAt: string;
  readonly source: GitSource;
}

interface GitFacts {
  readonly binding: GitBinding;
  /** The volume of the binding's name; undefined: there is none. */
  readonly volume: Volume | undefined;
  readonly isTenant: boolean;
  readonly hasImage: boolean;
  readonly now: number;
}

export type GitDecision =
  /** Nothing can be done; the reason says why. */
  | { readonly kind: 'blocked'; readonly reason: GitBindingReason; readonly message: string }
  | { readonly kind: 'make-volume' }
  | { readonly kind: 'begin' | 'follow'; readonly job: BegunJob; readonly volume: Volume }
  /** Nothing is to be done before `lookAt`, in milliseconds since the epoch. */
  | { readonly kind: 'rest'; readonly lookAt?: number };

export const volumeNameOf = ({ metadata }: GitBinding): string => `git-${metadata.name}`;

/** Decision for a binding. One operation at a time: the next one begins after the end of the one before. Pure. */
export function decideGit(facts: GitFacts): GitDecision {
  const { binding, volume, isTenant, hasImage, now } = facts;
  if (!isTenant) return blocked('NotATenant', 'the namespace is no tenant');
  if (!hasImage) return blocked('GitUnavailable', 'the installation has no image with git; an operator sets git.image');
  if (volume === undefined) return { kind: 'make-volume' };
  const problem = volumeProblem(binding, volume);
  if (problem !== undefined) return problem;
  const running = runningJob(binding);
  if (running !== undefined) return { kind: 'follow', job: running, volume };
  const job = nextJob(binding, volume, now);
  if (job !== undefined)
    return {
      kind: 'begin',
      job: { ...job, startedAt: new Date(now).toISOString(), source: gitSource(binding) },
      volume,
    };
  const lookAt = refreshAt(binding);
  return lookAt === undefined ? { kind: 'rest' } : { kind: 'rest', lookAt };
}

const blocked = (reason: GitBindingReason, message: string): GitDecision => ({ kind: 'blocked', reason, message });

function volumeProblem({ metadata }: GitBinding, volume: Volume): GitDecision | undefined {
  const { name, ownerReferences = [] } = volume.metadata;
  if (!ownerReferences.some(({ uid }) => uid === metadata.uid))
    return blocked('VolumeTaken', `a Volume ${name} that this binding did not make is in the way; delete it`);
  if (isLost(volume)) return blocked('VolumeFailed', wordsOf(volume) ?? `the Volume ${name} is being deleted`);
  if (volume.status?.claim_name !== undefined) return undefined;
  return blocked('VolumesPending', wordsOf(volume) ?? `the Volume ${name} is being made`);
}

const isLost = ({ metadata, status }: Volume): boolean =>
  status?.phase === 'failed' || status?.phase === 'expired' || metadata.deletionTimestamp !== undefined;

const wordsOf = ({ status }: Volume): string | undefined => status?.conditions?.[0]?.message;

/** The operation that is under way, or that was asked for and has not begun. */
export const openJob = (binding: GitBinding): Job | undefined => runningJob(binding) ?? askedJob(binding);

function askedJob({ spec: { request }, status }: GitBinding): Job | undefined {
  if (request === undefined || request.id === status?.answered?.id) return undefined;
  return { id: request.id, op: request.op, message: request.message, attempt: 1 };
}

function runningJob(binding: GitBinding): BegunJob | undefined {
  const { spec, status } = binding;
  const { request } = status ?? {};
  if (request?.phase !== 'running') return undefined;
  const { id, op, attempt, pod, started_at: startedAt = '', source = gitSource(binding) } = request;
  const message = spec.request?.id === id ? spec.request.message : undefined;
  return { id, op, attempt, pod, message, startedAt, source };
}

/** A request of a user comes first, then a sync of a source that was not tried, then one whose time has come. */
function nextJob(binding: GitBinding, volume: Volume, now: number): Job | undefined {
  const { status = {}, metadata } = binding;
  const asked = askedJob(binding);
  if (asked !== undefined) return asked;
  const isNew = status.tried_source !== sourceText(gitSource(binding)) || status.volume?.uid !== volume.metadata.uid;
  if (!isNew && now < (refreshAt(binding) ?? Number.POSITIVE_INFINITY)) return undefined;
  return { id: isNew ? `sync-${metadata.generation ?? 0}` : `sync-at-${now}`, op: 'sync', attempt: 1 };
}

/** The fields of the spec that an operation works by. */
export const gitSource = ({ spec: { ref, depth = 1, credentials } }: GitBinding): GitSource => ({
  depth,
  ...defined({ ref, secret: credentials?.secret.name }),
});

/** The same text for the same source. */
export const sourceText = ({ ref = '', depth, secret = '' }: GitSource): string => JSON.stringify([ref, depth, secret]);

function refreshAt({ spec: { refresh_seconds: seconds }, status }: GitBinding): number | undefined {
  const tried = Date.parse(status?.tried_at ?? '');
  return seconds === undefined || Number.isNaN(tried) ? undefined : tried + seconds * 1_000;
}

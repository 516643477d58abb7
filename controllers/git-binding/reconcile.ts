import { apiVersion, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { GitBinding, GitBindingStatus } from '../../crds/schema/git-binding.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { gitBindings, volumes } from '../../lib/kinds.ts';
import { createUnlessExists, type KubeClient, keyOf, type Pod } from '../../lib/kube/index.ts';
import { askServer } from '../runtime/ask-server.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { rejectionOf } from '../step-pods/create-pod.ts';
import { isDisruption } from '../step-pods/disruption.ts';
import { makeOwnPod } from '../step-pods/own-pod.ts';
import { podProblem } from '../step-pods/pod-problem.ts';
import type { PodReader } from '../step-pods/pod-reader.ts';
import { podWaiting } from '../step-pods/pod-waiting.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { stopPod } from '../step-pods/release-pod.ts';
import { waitOfRefusal } from '../step-pods/wait-of-refusal.ts';
import { type BegunJob, decideGit, type GitDecision, type Job, openJob, volumeNameOf } from './decide.ts';
import { buildGitPod, type GitPodSettings, gitPodName } from './git-pod.ts';
import { gitLimits } from './limits.ts';
import { isAwaited, neverStartedAt, podOf } from './pod-of.ts';
import { failedJob, type JobEnd, readGitAnswer } from './read-answer.ts';
import { begunStatus, endedStatus, goingStatus, statusWith } from './status.ts';

interface GitBindingDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly bindings: CacheReader<GitBinding>;
  readonly volumes: Pick<CacheReader<Volume>, 'get' | 'remember'>;
  readonly pods: Pick<CacheReader<Pod>, 'get' | 'remember'>;
  readonly reader: Pick<PodReader, 'outcomeOf' | 'follow' | 'forget' | 'noteOf'>;
  readonly isTenant: (namespace: string) => boolean;
  /** Slug of the tenant that a namespace is on the API server. */
  readonly readTenant: (namespace: string) => Promise<string | undefined>;
  /** Undefined: the installation has no image with git. */
  readonly settings: GitPodSettings | undefined;
  /** Makes objects that count in a quota. */
  readonly quota: Pick<QuotaGate, 'create' | 'leave'>;
}

/** Keeps the tree of each binding as its spec and its requests say, one pod at a time (ADR 0098). */
export function createGitBindingReconcile(deps: GitBindingDeps) {
  return async (key: string): Promise<ReconcileResult> => {
    const binding = deps.bindings.get(key);
    if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) {
      deps.quota.leave(key);
      return undefined;
    }
    return act(deps, binding, await decideAsked(deps, binding));
  };
}

/**
 * A request fails for its volume, or for want of a tenant, once the server says so too, and nothing begins in a namespace
 * that is a tenant in the cache alone: a watch may be behind (D8, ADR 0156).
 */
async function decideAsked(deps: GitBindingDeps, binding: GitBinding): Promise<GitDecision> {
  const { namespace = '' } = binding.metadata;
  const name = volumeNameOf(binding);
  const decide = (isTenant: boolean, volume: Volume | undefined): GitDecision =>
    decideGit({ binding, volume, isTenant, hasImage: deps.settings !== undefined, now: deps.clock.now() });
  const [isCached, cached] = [deps.isTenant(namespace), deps.volumes.get(`${namespace}/${name}`)];
  const first = decide(isCached, cached);
  const isTenant = isOfTenant(first) ? (await deps.readTenant(namespace)) !== undefined : isCached;
  const known = isTenant === isCached ? first : decide(isTenant, cached);
  if (known.kind !== 'blocked' || !isOfVolume(known) || openJob(binding) === undefined) return known;
  return decide(
    isTenant,
    await askServer({ kube: deps.kube, resource: volumes, cache: deps.volumes }, { namespace, name }),
  );
}

/** Whether it is only right in a tenant, or outside of one. */
const isOfTenant = (decision: GitDecision): boolean =>
  decision.kind === 'begin' ||
  decision.kind === 'make-volume' ||
  (decision.kind === 'blocked' && decision.reason === 'NotATenant');

const isOfVolume = ({ reason }: Extract<GitDecision, { kind: 'blocked' }>): boolean =>
  reason === 'VolumeTaken' || reason === 'VolumeFailed';

async function act(deps: GitBindingDeps, binding: GitBinding, decision: GitDecision): Promise<ReconcileResult> {
  const now = deps.clock.now();
  switch (decision.kind) {
    case 'blocked':
      return block(deps, binding, decision);
    case 'make-volume':
      return makeVolume(deps, binding);
    case 'begin': {
      const begun = await write(deps, binding, begunStatus(binding, decision.job, decision.volume, now));
      return follow(deps, begun, decision.volume, decision.job);
    }
    case 'follow':
      return follow(deps, binding, decision.volume, decision.job);
    case 'rest':
      await write(deps, binding, statusWith(binding, now, {}));
      return decision.lookAt === undefined ? undefined : { requeueAfterMs: decision.lookAt - now, reason: 'refresh' };
  }
}

const write = (deps: GitBindingDeps, binding: GitBinding, status: GitBindingStatus) =>
  writeStatus({ kube: deps.kube, resource: gitBindings, cache: deps.bindings }, binding, status);

/** A request fails at once while nothing can be done: its caller waits for it. */
async function block(
  deps: GitBindingDeps,
  binding: GitBinding,
  why: Extract<GitDecision, { kind: 'blocked' }>,
): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const pending = why.reason === 'VolumesPending';
  const job = pending ? undefined : openJob(binding);
  const ended = job && { ...binding, status: endedStatus(binding, job, failedJob(why.reason, why.message), now) };
  const written = await write(deps, binding, statusWith(ended ?? binding, now, {}, why));
  if (job !== undefined) await removePod(deps, written, job);
  return { requeueAfterMs: pending ? gitLimits.lookAgainMs : gitLimits.blockedAgainMs, reason: why.reason };
}

/** The volume is deleted with its binding. */
async function makeVolume(deps: GitBindingDeps, binding: GitBinding): Promise<ReconcileResult> {
  const { name, namespace = '', uid = '' } = binding.metadata;
  const wanted: Volume = {
    apiVersion,
    kind: 'Volume',
    metadata: {
      name: volumeNameOf(binding),
      namespace,
      labels: { [labels.managedBy]: 'windlass' },
      ownerReferences: [{ apiVersion, kind: 'GitBinding', name, uid, controller: true }],
    },
    spec: { storage_class: 'persistent', size_limit_mb: binding.spec.size_limit_mb ?? limits.gitVolumeMbDefault },
  };
  const wish = { namespace, resource: volumes.plural, key: keyOf(binding) };
  try {
    const made = await deps.quota.create(wish, () => createUnlessExists(deps.kube, volumes, wanted));
    if (made !== undefined) deps.volumes.remember(made);
  } catch (error) {
    const { reason, message } = quotaWait(error);
    return block(deps, binding, { kind: 'blocked', reason, message });
  }
  const why = { reason: 'VolumesPending', message: 'the volume is being made' } as const;
  await write(deps, binding, statusWith(binding, deps.clock.now(), {}, why));
  return { requeueAfterMs: gitLimits.lookAgainMs, reason: 'VolumesPending' };
}

async function follow(
  deps: GitBindingDeps,
  binding: GitBinding,
  volume: Volume,
  job: BegunJob,
): Promise<ReconcileResult> {
  if (job.op === 'commit' && job.message === undefined)
    return finish(deps, binding, job, failedJob('CONFLICT', 'another request took the place of this one'));
  if (job.pod === undefined) return makePod(deps, binding, volume, job);
  const pod = await podOf(deps, binding, job.pod);
  if (pod === undefined) return makeAnother(deps, binding, job, 'the pod was deleted');
  return followPod(deps, binding, job, pod);
}

async function makePod(
  deps: GitBindingDeps,
  binding: GitBinding,
  volume: Volume,
  job: BegunJob,
): Promise<ReconcileResult> {
  const { settings } = deps;
  if (settings === undefined) return undefined;
  const { uid } = binding.metadata;
  let isForeign: boolean;
  try {
    const wanted = buildGitPod(binding, volume, job, settings);
    const made = await makeOwnPod(
      deps,
      binding,
      wanted,
      ({ metadata }) => metadata.labels?.[labels.executionUid] === uid,
    );
    isForeign = made.kind === 'foreign';
    if (made.kind !== 'foreign' && made.object !== undefined) deps.pods.remember(made.object);
  } catch (error) {
    return refused(deps, binding, job, error);
  }
  if (isForeign) return finish(deps, binding, job, failedJob('PodRejected', 'its name is taken'));
  const named = { ...job, pod: gitPodName(binding, job) };
  await write(deps, binding, goingStatus(binding, deps.clock.now(), named));
  return { requeueAfterMs: gitLimits.lookAgainMs, reason: 'pod' };
}

/** A quota may have room again; a pod that breaks a rule never runs. */
async function refused(
  deps: GitBindingDeps,
  binding: GitBinding,
  job: BegunJob,
  error: unknown,
): Promise<ReconcileResult> {
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return finish(deps, binding, job, failedJob(rejection.reason, rejection.message));
  const waits = quotaWait(error);
  const now = deps.clock.now();
  const until = Date.parse(job.startedAt) + gitLimits.quotaMs;
  if (now >= until) return finish(deps, binding, job, failedJob(waits.reason, waits.message));
  await write(deps, binding, goingStatus(binding, now, job, waits));
  // Without a count there is no line, and nothing else wakes the binding.
  const againMs = waits.inLine ? gitLimits.quotaAgainMs : gitLimits.lookAgainMs;
  return { requeueAfterMs: Math.min(againMs, until - now), reason: waits.reason };
}

/** A full quota, or one that the server has not counted yet. @throws any other error */
function quotaWait(error: unknown) {
  const wait = waitOfRefusal(error);
  if (wait?.reason !== 'QuotaExceeded') throw error;
  return { ...wait, reason: wait.reason };
}

async function followPod(deps: GitBindingDeps, binding: GitBinding, job: Job, pod: Pod): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const problem = podProblem(pod, now);
  if (problem !== undefined)
    return isDisruption(problem) || problem.reason === 'PodDeleted'
      ? makeAnother(deps, binding, job, problem.message)
      : finish(deps, binding, job, failedJob(problem.reason, problem.message));
  const outcome = deps.reader.outcomeOf(pod);
  if (outcome !== undefined) return finish(deps, binding, job, readGitAnswer(outcome));
  if (!isAwaited(pod)) {
    deps.reader.follow(pod, 'log');
    return { requeueAfterMs: gitLimits.lookAgainMs, reason: 'pod' };
  }
  return waitForPod(deps, binding, job, pod);
}

async function waitForPod(deps: GitBindingDeps, binding: GitBinding, job: Job, pod: Pod): Promise<ReconcileResult> {
  const now = deps.clock.now();
  deps.reader.follow(pod, 'events');
  const waiting = podWaiting(pod, (one) => deps.reader.noteOf(one));
  const message = waiting?.message ?? 'it waits for its container';
  if (now >= neverStartedAt(pod)) return finish(deps, binding, job, failedJob('NeverStarted', message));
  if (waiting !== undefined && now >= waiting.since)
    await write(deps, binding, goingStatus(binding, now, job, { reason: 'Working', message }));
  return { requeueAfterMs: gitLimits.lookAgainMs, reason: 'pod waits' };
}

/** A pod was lost through no fault of git: every operation can be done again. */
async function makeAnother(deps: GitBindingDeps, binding: GitBinding, job: Job, why: string): Promise<ReconcileResult> {
  await removePod(deps, binding, job);
  if (job.attempt >= gitLimits.attempts)
    return finish(deps, binding, job, failedJob('PodLost', `the pod was lost ${job.attempt} times: ${why}`));
  await write(deps, binding, goingStatus(binding, deps.clock.now(), { attempt: job.attempt + 1 }));
  return { requeueAfterMs: 0, reason: 'pod lost' };
}

async function finish(deps: GitBindingDeps, binding: GitBinding, job: Job, end: JobEnd): Promise<ReconcileResult> {
  deps.quota.leave(keyOf(binding));
  const status = endedStatus(binding, job, end, deps.clock.now());
  const written = await write(deps, binding, status);
  recordEnd(deps, written, job, end);
  await removePod(deps, written, job);
  return { requeueAfterMs: 0, reason: 'next operation' };
}

function recordEnd({ events }: GitBindingDeps, object: GitBinding, { op }: Job, end: JobEnd): void {
  const [type, reason, note] =
    end.kind === 'done'
      ? (['Normal', 'Synced', `${op}: the tree is that of ${end.tree.commit}`] as const)
      : (['Warning', 'SyncFailed', `${op}: ${end.error}: ${end.message}`] as const);
  if (op === 'status' || op === 'diff') return;
  events.record({ resource: gitBindings, object, type, reason, action: 'Reconcile', note });
}

/** A pod may exist whose name could not be written to the status. */
const podNameOf = (binding: GitBinding, job: Job | BegunJob): string | undefined =>
  job.pod ?? ('startedAt' in job ? gitPodName(binding, job) : undefined);

/** The answer of a pod is in the status; the next operation waits for its end on the volume's own lock. */
async function removePod(deps: GitBindingDeps, binding: GitBinding, job: Job | BegunJob): Promise<void> {
  const { namespace = '', uid: owner } = binding.metadata;
  const name = podNameOf(binding, job);
  const found = name === undefined ? undefined : deps.pods.get(`${namespace}/${name}`)?.metadata;
  if (found?.uid === undefined || found.labels?.[labels.executionUid] !== owner) return;
  if (found.deletionTimestamp === undefined)
    await stopPod(deps.kube, { name: found.name ?? '', namespace, uid: found.uid }, 'graceful');
  deps.reader.forget(found.uid);
}

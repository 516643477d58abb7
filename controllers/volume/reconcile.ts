import type { EventReason, VolumeReason } from '../../crds/conditions.ts';
import { apiVersion, labels } from '../../crds/labels.ts';
import type { Volume, VolumeStatus } from '../../crds/schema/volume.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { volumes } from '../../lib/kinds.ts';
import {
  createUnlessExists,
  findObject,
  isDenied,
  isForbidden,
  isInvalid,
  isNamespaceGone,
  type KubeClient,
  KubeError,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  refOfKey,
} from '../../lib/kube/index.ts';
import { deleteAsRead } from '../runtime/delete-as-read.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { FactSink } from '../runtime/facts.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { claimKey, decideVolume, endOfData, refusedStatus, type VolumeDecision } from './decide.ts';
import { endFact } from './end-fact.ts';
import { storageFacts } from './storage-facts.ts';
import { type ReleaseClaimDeps, releaseClaim } from './release-claim.ts';

export interface VolumeSettings {
  /** StorageClass of new claims; absent: the cluster's default. */
  readonly storageClass?: string;
  /** Size of a volume that names none, in MiB. */
  readonly defaultSizeMb: number;
  /** `ReadWriteMany` where steps of one execution may run on several nodes. */
  readonly accessMode: 'ReadWriteMany' | 'ReadWriteOnce';
}

interface VolumeDeps {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly facts: FactSink;
  readonly volumes: CacheReader<Volume>;
  readonly claims: CacheReader<PersistentVolumeClaim>;
  readonly pods: ReleaseClaimDeps['pods'];
  readonly settings: VolumeSettings;
}

/**
 * Gives each Volume its claim, and takes an ephemeral one back when its time is over (spec 1 §2.6). The claim of a
 * Volume that is deleted is collected by Kubernetes, which its owner reference asks for.
 */
export function createVolumeReconcile(deps: VolumeDeps) {
  /** The volumes that this replica has seen: only of those it can say that they are gone. */
  const seen = new Map<string, Volume>();
  return async (key: string): Promise<{ requeueAfterMs: number; reason: string } | undefined> => {
    await releaseClaim(deps, key);
    const volume = deps.volumes.get(key);
    const before = seen.get(key);
    if (before !== undefined && before.metadata.uid !== volume?.metadata.uid) tellDeleted(deps, before);
    if (volume === undefined) seen.delete(key);
    else seen.set(key, volume);
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return undefined;
    tellUse(deps, volume);
    const { status, lookAt, isOver } = await bringForward(deps, volume);
    await report(deps, volume, status);
    if (isOver === true) await deleteAsRead(deps.kube, volumes, volume);
    return lookAt === undefined
      ? undefined
      : { requeueAfterMs: Math.max(0, lookAt - deps.clock.now()), reason: 'volume expires' };
  };
}

/** Steps that mount the volume, and those that have let it go. */
function tellUse({ facts, pods }: VolumeDeps, volume: Volume): void {
  for (const pod of pods.byIndex('claim', claimKey(volume))) {
    for (const fact of storageFacts(volume, pod)) facts.raise(fact);
  }
}

/** Makes or deletes the claim; what was made is judged at once, for no other process may ever change it. */
async function bringForward(deps: VolumeDeps, volume: Volume): Promise<VolumeDecision> {
  const now = deps.clock.now();
  const { claim, decision } = await judge(deps, volume, now);
  if (decision.claim === 'delete' && claim !== undefined) await deleteAsRead(deps.kube, persistentVolumeClaims, claim);
  if (decision.claim !== 'create') return decision;
  const created = await tellRefusal(deps, volume, () => createClaim(deps, volume));
  return created === undefined ? decision : decideVolume(volume, created, now);
}

interface Judgement {
  readonly claim: PersistentVolumeClaim | undefined;
  readonly decision: VolumeDecision;
}

/**
 * Executions that wait for a volume end with it, so the cache alone fails none. The watch of claims may be behind that
 * of volumes, above all where another replica has made the claim. The API server is asked once, for what has failed
 * already is not read again.
 */
async function judge(deps: VolumeDeps, volume: Volume, now: number): Promise<Judgement> {
  const known = deps.claims.get(claimKey(volume));
  const decision = decideVolume(volume, known, now);
  if (decision.status.phase !== 'failed' || volume.status?.phase === 'failed') return { claim: known, decision };
  const claim = await findObject(deps.kube, persistentVolumeClaims, refOfKey(claimKey(volume)));
  if (claim !== undefined) deps.claims.remember(claim);
  return { claim, decision: decideVolume(volume, claim, now) };
}

/**
 * A refusal is tried again like any error, but a reader of the volume, or an execution that waits for it, must see why.
 */
async function tellRefusal<T>(deps: VolumeDeps, volume: Volume, create: () => Promise<T>): Promise<T> {
  try {
    return await create();
  } catch (error) {
    if (error instanceof KubeError && isOfClaim(error)) await reportRefusal(deps, volume, error.serverMessage);
    throw error;
  }
}

const isOfClaim = (error: unknown): boolean =>
  (isForbidden(error) || isInvalid(error) || isDenied(error)) && !isNamespaceGone(error);

async function reportRefusal(deps: VolumeDeps, volume: Volume, answer: string): Promise<void> {
  const reason: VolumeReason = 'ClaimRefused';
  const isNews = volume.status?.conditions?.[0]?.reason !== reason;
  const status = refusedStatus(volume, answer, deps.clock.now());
  await report(deps, volume, status);
  if (!isNews) return;
  const note = status.conditions?.[0]?.message ?? answer;
  deps.events.record({ resource: volumes, object: volume, type: 'Warning', reason, action: 'CreateClaim', note });
}

/** Undefined where one of that name exists, which the cache does not know yet. */
async function createClaim(
  { kube, claims, settings }: VolumeDeps,
  { metadata, spec }: Volume,
): Promise<PersistentVolumeClaim | undefined> {
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      labels: { ...metadata.labels, [labels.managedBy]: 'windlass' },
      ownerReferences: [{ apiVersion, kind: 'Volume', name: metadata.name, uid: metadata.uid ?? '', controller: true }],
    },
    spec: {
      accessModes: [settings.accessMode],
      resources: { requests: { storage: `${spec.size_limit_mb ?? settings.defaultSizeMb}Mi` } },
      ...(settings.storageClass === undefined ? {} : { storageClassName: settings.storageClass }),
    },
  };
  const created = await createUnlessExists(kube, persistentVolumeClaims, claim);
  if (created !== undefined) claims.remember(created);
  return created;
}

async function report(deps: VolumeDeps, volume: Volume, status: VolumeStatus): Promise<void> {
  await writeStatus({ kube: deps.kube, resource: volumes, cache: deps.volumes }, volume, status);
  if (status.phase === 'expired') tellExpired(deps, volume);
}

function tellExpired({ events, facts, clock }: VolumeDeps, volume: Volume): void {
  const reason: VolumeReason = 'VolumeExpired';
  const expiresAt = volume.spec.expires_at ?? '';
  const isNews = volume.status?.phase !== 'expired';
  facts.raise(endFact(volume, 'expired', isNews ? new Date(clock.now()).toISOString() : expiresAt));
  if (!isNews) return;
  const note = `expired at ${expiresAt}; ${endOfData(volume)}`;
  events.record({ resource: volumes, object: volume, type: 'Normal', reason, action: 'Expire', note });
}

/** spec 1 §2.6: the end of a volume is announced, persistent ones included. */
function tellDeleted({ events, facts, clock }: VolumeDeps, volume: Volume): void {
  facts.raise(endFact(volume, 'deleted', new Date(clock.now()).toISOString()));
  const note = `deleted; ${endOfData(volume)}`;
  const reason: EventReason = 'VolumeDeleted';
  events.record({ resource: volumes, object: volume, type: 'Normal', reason, action: 'Delete', note });
}

import { conditionTypes, type VolumeReason } from '../../crds/conditions.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { Volume, VolumeStatus } from '../../crds/schema/volume.ts';
import type { PersistentVolumeClaim } from '../../lib/kube/index.ts';

export interface VolumeDecision {
  readonly status: VolumeStatus;
  /** What to do with the claim; absent: leave it. */
  readonly claim?: 'create' | 'delete';
  /** When to look again, in milliseconds since the epoch. */
  readonly lookAt?: number;
}

/** What a volume needs, given its claim and the time in milliseconds since the epoch. Pure. */
export function decideVolume(volume: Volume, claim: PersistentVolumeClaim | undefined, now: number): VolumeDecision {
  const { spec } = volume;
  const expiresAt = spec.expires_at === undefined ? undefined : Date.parse(spec.expires_at);
  if (expiresAt !== undefined && now >= expiresAt) return expired(volume, claim, now);
  const lookAt = expiresAt === undefined ? {} : { lookAt: expiresAt };
  if (claim === undefined && spec.claim_name === undefined) {
    return { ...lookAt, claim: 'create', status: statusOf(volume, now, 'ClaimPending', 'the claim is being made') };
  }
  if (claim === undefined) {
    const message = `claim ${spec.claim_name ?? ''} does not exist`;
    return { ...lookAt, status: statusOf(volume, now, 'ClaimFailed', message) };
  }
  return { ...lookAt, status: statusOfClaim(volume, claim, now) };
}

/** A claim that was made elsewhere is not ours to delete. */
function expired(volume: Volume, claim: PersistentVolumeClaim | undefined, now: number): VolumeDecision {
  const ours = claim !== undefined && volume.spec.claim_name === undefined;
  const remove = ours && claim.metadata.deletionTimestamp === undefined;
  const message = `expired at ${volume.spec.expires_at ?? ''}; its data are deleted`;
  return { status: statusOf(volume, now, 'VolumeExpired', message), ...(remove ? { claim: 'delete' as const } : {}) };
}

/**
 * A claim that is not bound yet can be mounted all the same: with a StorageClass that waits for the first consumer it
 * is bound only when a pod asks for it.
 */
function statusOfClaim(volume: Volume, { metadata, status }: PersistentVolumeClaim, now: number): VolumeStatus {
  if (status?.phase === 'Lost') return statusOf(volume, now, 'ClaimFailed', `claim ${metadata.name} lost its volume`);
  return statusOf(volume, now, 'ClaimReady', `claim ${metadata.name} can be mounted`);
}

const phases: Readonly<Record<VolumeReason, NonNullable<VolumeStatus['phase']>>> = {
  ClaimPending: 'pending',
  ClaimReady: 'ready',
  ClaimFailed: 'failed',
  VolumeExpired: 'expired',
};

function statusOf(volume: Volume, now: number, reason: VolumeReason, message: string): VolumeStatus {
  const value: Condition['status'] = reason === 'ClaimReady' ? 'True' : 'False';
  const before = volume.status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  const generation = volume.metadata.generation ?? 0;
  const lastTransitionTime = before?.status === value ? before.lastTransitionTime : new Date(now).toISOString();
  return {
    observedGeneration: generation,
    phase: phases[reason],
    claim_name: volume.spec.claim_name ?? volume.metadata.name,
    conditions: [
      {
        type: conditionTypes.ready,
        status: value,
        reason,
        message,
        lastTransitionTime,
        observedGeneration: generation,
      },
    ],
  };
}

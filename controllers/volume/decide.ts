import { conditionTypes, type VolumeReason } from '../../crds/conditions.ts';
import { labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { Volume, VolumeStatus } from '../../crds/schema/volume.ts';
import { cutText } from '../../lib/cut-text.ts';
import type { PersistentVolumeClaim } from '../../lib/kube/index.ts';
import { nextCondition } from '../runtime/next-condition.ts';

export interface VolumeDecision {
  readonly status: VolumeStatus;
  /** Action on the claim; absent: leave it. */
  readonly claim?: 'create' | 'delete';
  /** The object itself is to be deleted. */
  readonly isOver?: boolean;
  /** When to look again, in milliseconds since the epoch. */
  readonly lookAt?: number;
}

/** Decision for a volume, given its claim and the time in milliseconds since the epoch. Pure. */
export function decideVolume(volume: Volume, claim: PersistentVolumeClaim | undefined, now: number): VolumeDecision {
  const expiresAt = volume.spec.expires_at === undefined ? undefined : Date.parse(volume.spec.expires_at);
  if (expiresAt !== undefined && now >= expiresAt) return expired(volume, claim, now);
  const { reason, message, create = false } = stateOfClaim(volume, claim);
  return {
    status: statusOf(volume, now, reason, message),
    ...(create ? { claim: 'create' as const } : {}),
    ...(expiresAt === undefined ? {} : { lookAt: expiresAt }),
  };
}

/** Longest answer of the API server that a status quotes, in characters. */
const answerLength = 768;

/** Status of a volume whose claim the API server refuses to make; it may make it later. */
export const refusedStatus = (volume: Volume, answer: string, now: number): VolumeStatus =>
  statusOf(volume, now, 'ClaimRefused', `no claim could be made: ${cutText(answer, answerLength)}`);

/** The claim that holds, or will hold, the data of a volume. */
const claimName = ({ metadata, spec }: Volume): string => spec.claim_name ?? metadata.name;

/** Cache key of that claim. */
export const claimKey = (volume: Volume): string => `${volume.metadata.namespace}/${claimName(volume)}`;

/** Whether the claim was made for this volume; one that was made elsewhere is not ours to delete. */
const isOurs = ({ metadata: { uid }, spec }: Volume, claim: PersistentVolumeClaim): boolean =>
  spec.claim_name === undefined && claim.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;

/** The fate of a volume's data at its end. */
export const endOfData = ({ spec: { claim_name: kept } }: Volume): string =>
  kept === undefined ? 'its data are deleted' : `claim ${kept} stays, for it was made elsewhere`;

function expired(volume: Volume, claim: PersistentVolumeClaim | undefined, now: number): VolumeDecision {
  const remove = claim !== undefined && isOurs(volume, claim) && claim.metadata.deletionTimestamp === undefined;
  const message = `expired at ${volume.spec.expires_at ?? ''}; ${endOfData(volume)}`;
  return {
    status: statusOf(volume, now, 'VolumeExpired', message),
    ...(remove ? { claim: 'delete' as const } : {}),
    ...endOfObject(volume, now),
  };
}

/** A volume that was made for an execution and outlived it has no owner; it is deleted some time after its data. */
function endOfObject({ metadata, spec }: Volume, now: number): Pick<VolumeDecision, 'lookAt' | 'isOver'> {
  if (metadata.labels?.[labels.executionUid] === undefined) return {};
  const end = Date.parse(spec.expires_at ?? '') + limits.expiredVolumeSeconds * 1_000;
  return now >= end ? { isOver: true } : { lookAt: end };
}

interface ClaimState {
  readonly reason: VolumeReason;
  readonly message: string;
  readonly create?: boolean;
}

/**
 * A claim that is not bound yet can be mounted all the same. With a StorageClass that waits for the first consumer it
 * is bound only when a pod asks for it.
 */
function stateOfClaim(volume: Volume, claim: PersistentVolumeClaim | undefined): ClaimState {
  const { claim_name: named } = volume.spec;
  if (claim === undefined) return named === undefined ? withoutClaim(volume) : failed(`claim ${named} does not exist`);
  const { name, deletionTimestamp } = claim.metadata;
  if (deletionTimestamp !== undefined && !wasReady(volume)) {
    return { reason: 'ClaimPending', message: `claim ${name} of an earlier volume is being deleted` };
  }
  if (deletionTimestamp !== undefined) return failed(`claim ${name} is being deleted with its data`);
  if (named === undefined && !isOurs(volume, claim)) {
    return failed(`claim ${name} has another owner; name it in spec.claim_name to use it`);
  }
  if (claim.status?.phase === 'Lost') return failed(`claim ${name} lost its volume`);
  return { reason: 'ClaimReady', message: `claim ${name} can be mounted${keeperOfSize(volume)}` };
}

/** Windlass asks for the size alone. Folders of a shared file system take more (WF-STOR-04). */
function keeperOfSize({ spec: { size_limit_mb: size, claim_name: named } }: Volume): string {
  if (size === undefined) return '';
  if (named !== undefined) return '; its own size counts, and not size_limit_mb';
  return `; its StorageClass decides whether a write beyond ${size} MiB fails`;
}

/** A new claim in place of one that held data would hide that they are gone. */
function withoutClaim(volume: Volume): ClaimState {
  if (wasReady(volume)) return failed(`claim ${volume.metadata.name} was deleted with its data; make a new Volume`);
  return { reason: 'ClaimPending', message: 'the claim is being made', create: true };
}

const failed = (message: string): ClaimState => ({ reason: 'ClaimFailed', message });

/** Whether the claim could be mounted once; only then the status names it. */
const wasReady = ({ status }: Volume): boolean => status?.claim_name !== undefined;

const phases: Readonly<Record<VolumeReason, NonNullable<VolumeStatus['phase']>>> = {
  ClaimPending: 'pending',
  ClaimRefused: 'pending',
  ClaimReady: 'ready',
  ClaimFailed: 'failed',
  VolumeExpired: 'expired',
};

function statusOf(volume: Volume, now: number, reason: VolumeReason, message: string): VolumeStatus {
  const status = reason === 'ClaimReady' ? 'True' : 'False';
  return {
    observedGeneration: volume.metadata.generation ?? 0,
    phase: phases[reason],
    ...(reason === 'ClaimReady' || wasReady(volume) ? { claim_name: claimName(volume) } : {}),
    conditions: [nextCondition(volume, { type: conditionTypes.ready, status, reason, message }, now)],
  };
}

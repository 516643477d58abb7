import { conditionTypes, type VolumeReason } from '../../crds/conditions.ts';
import { apiVersion, labels } from '../../crds/labels.ts';
import type { Volume, VolumeStatus } from '../../crds/schema/volume.ts';
import type { Clock } from '../../lib/clock.ts';
import { volumes } from '../../lib/kinds.ts';
import {
  isAlreadyExists,
  type KubeClient,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
} from '../../lib/kube/index.ts';
import type { CacheReader } from '../runtime/cache.ts';
import { statusPatch } from '../runtime/status-patch.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { decideVolume } from './decide.ts';

export interface VolumeSettings {
  /** StorageClass of new claims; absent: the cluster's default. */
  readonly storageClass?: string;
  /** Size of a volume that names none, in MiB. */
  readonly defaultSizeMb: number;
  /** `ReadWriteMany` where steps of one execution may run on several nodes. */
  readonly accessMode: 'ReadWriteMany' | 'ReadWriteOnce';
}

export interface VolumeDeps {
  readonly kube: Pick<KubeClient, 'create' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly volumes: CacheReader<Volume>;
  readonly claims: CacheReader<PersistentVolumeClaim>;
  readonly settings: VolumeSettings;
}

/** Gives each Volume its claim, and takes an ephemeral one back when its time is over (spec 1 §2.6). */
export function createVolumeReconcile(deps: VolumeDeps) {
  return async (key: string): Promise<{ requeueAfterMs: number; reason: string } | undefined> => {
    const volume = deps.volumes.get(key);
    if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return undefined;
    const now = deps.clock.now();
    const decision = decideVolume(volume, deps.claims.get(claimKey(volume)), now);
    if (decision.claim === 'create') await createClaim(deps, volume);
    if (decision.claim === 'delete') await deleteClaim(deps, volume);
    await report(deps, volume, decision.status);
    return decision.lookAt === undefined
      ? undefined
      : { requeueAfterMs: decision.lookAt - now, reason: 'volume expires' };
  };
}

/** Cache key of the claim that holds, or will hold, the data of a volume. */
export const claimKey = ({ metadata, spec }: Volume): string =>
  `${metadata.namespace}/${spec.claim_name ?? metadata.name}`;

async function createClaim({ kube, claims, settings }: VolumeDeps, { metadata, spec }: Volume): Promise<void> {
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
  try {
    claims.remember(await kube.create(persistentVolumeClaims, claim));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function deleteClaim({ kube }: VolumeDeps, { metadata }: Volume): Promise<void> {
  await kube.delete(persistentVolumeClaims, { name: metadata.name, namespace: metadata.namespace ?? '' });
}

async function report(deps: VolumeDeps, volume: Volume, status: VolumeStatus): Promise<void> {
  const patch = statusPatch(volume, status);
  if (patch === undefined) return;
  const { name, namespace = '' } = volume.metadata;
  deps.volumes.remember(await deps.kube.jsonPatchStatus(volumes, { name, namespace }, patch));
  if (reasonOf(status) === 'VolumeExpired' && reasonOf(volume.status) !== 'VolumeExpired') tellExpired(deps, volume);
}

const reasonOf = (status: VolumeStatus | undefined): string | undefined =>
  status?.conditions?.find(({ type }) => type === conditionTypes.ready)?.reason;

function tellExpired({ events }: VolumeDeps, volume: Volume): void {
  const reason: VolumeReason = 'VolumeExpired';
  const note = `expired at ${volume.spec.expires_at ?? ''}; its data are deleted`;
  events.record({ resource: volumes, object: volume, type: 'Normal', reason, action: 'Expire', note });
}

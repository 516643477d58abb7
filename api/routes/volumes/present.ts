import { annotations, labels } from '../../../crds/labels.ts';
import { volumeNamePattern } from '../../../crds/reserved-names.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import type { VolumeView } from './contract.ts';

/** A volume as callers see it; claims are the cluster's own. */
export function presentVolume({ metadata, spec, status }: Volume): VolumeView {
  const { phase = 'pending' } = status ?? {};
  return {
    volume_id: metadata.uid ?? '',
    name: metadata.name,
    ...madeFor(metadata),
    storage_class: spec.storage_class,
    phase,
    message: phase === 'ready' ? null : messageOf(status),
    size_limit_mb: spec.size_limit_mb ?? null,
    expires_at: spec.expires_at ?? null,
    created_at: metadata.creationTimestamp ?? '',
  };
}

const volumeName = new RegExp(volumeNamePattern, 'u');

/** Only Windlass writes the name where its admission policies are installed; elsewhere it may be anything. */
function madeFor({ labels: marks, annotations: notes }: Volume['metadata']) {
  const declared = notes?.[annotations.volume] ?? '';
  return {
    declared_name: volumeName.test(declared) ? declared : null,
    execution_id: marks?.[labels.executionUid] ?? null,
  };
}

const messageOf = (status: Volume['status']): string | null => status?.conditions?.[0]?.message ?? null;

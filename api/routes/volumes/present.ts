import { labels } from '../../../crds/labels.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import type { VolumeView } from './contract.ts';

/** A volume as callers see it; claims are the cluster's own. */
export function presentVolume({ metadata, spec, status }: Volume): VolumeView {
  const { phase = 'pending' } = status ?? {};
  return {
    volume_id: metadata.uid ?? '',
    name: metadata.name,
    storage_class: spec.storage_class,
    phase,
    message: phase === 'ready' ? null : messageOf(status),
    size_limit_mb: spec.size_limit_mb ?? null,
    expires_at: spec.expires_at ?? null,
    execution_id: metadata.labels?.[labels.executionUid] ?? null,
    created_at: metadata.creationTimestamp ?? '',
  };
}

const messageOf = (status: Volume['status']): string | null => status?.conditions?.[0]?.message ?? null;

import type { Volume } from '../../crds/schema/volume.ts';
import type { Fact } from '../runtime/facts.ts';

const types = { expired: 'VolumeExpired', deleted: 'VolumeDeleted' } as const;

/** That the time of a volume is over, or that it is gone, for the event bus (requirements ORCH-EVT-02, ORCH-EVT-03). */
export function endFact({ metadata, spec, status }: Volume, word: keyof typeof types, time: string): Fact {
  const { uid = '', name, namespace = '' } = metadata;
  const data = {
    volume_id: uid,
    volume: name,
    namespace,
    storage_class: spec.storage_class,
    claim: status?.claim_name,
    // A claim of another owner outlives the volume that names it.
    claim_kept: spec.claim_name !== undefined,
    expires_at: spec.expires_at,
  };
  return { word, topic: 'volume', type: types[word], subject: uid, namespace, time, data };
}

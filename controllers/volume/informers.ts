import type { Volume } from '../../crds/schema/volume.ts';
import { type CacheReader, createInformer, type Informer, stripStrangers } from '../../lib/informer/index.ts';
import { slimMetadata } from '../../lib/informer/slim-metadata.ts';
import { volumes } from '../../lib/kinds.ts';
import { keyOf, type PersistentVolumeClaim, persistentVolumeClaims } from '../../lib/kube/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';
import { claimKey } from './decide.ts';

/** `claim`: key of the claim that `spec.claim_name` names. A volume that names none has one of its own name. */
export const volumeIndexes = {
  claim: (volume: Volume): string[] => (volume.spec.claim_name === undefined ? [] : [claimKey(volume)]),
} as const;

/** Keys of the volumes that a claim concerns: that of its own name, and those that name it. */
export const volumesOfClaim = (key: string, cache: Pick<CacheReader<Volume, 'claim'>, 'byIndex'>): string[] => [
  key,
  ...cache.byIndex('claim', key).map(keyOf),
];

export const volumeInformer: InformerSpec<Informer<Volume, 'claim'>> = {
  name: 'volumes',
  kind: 'Volume',
  open: (deps) =>
    createInformer(deps, { resource: volumes, parse: withSpec, strip: stripStrangers, indexes: volumeIndexes }),
};

/** All of them: `spec.claim_name` may name one of another owner. */
export const claimInformer: InformerSpec<Informer<PersistentVolumeClaim>> = {
  name: 'claims',
  kind: 'PersistentVolumeClaim',
  open: (deps) => createInformer(deps, { resource: persistentVolumeClaims, strip: slimClaim }),
};

/** Whose a claim is and how it does; the rest of it is other people's, and of any size. */
export function slimClaim({ metadata, status }: PersistentVolumeClaim): PersistentVolumeClaim {
  return {
    metadata: slimMetadata(metadata),
    spec: { accessModes: [], resources: {} },
    status: { phase: status?.phase },
  };
}

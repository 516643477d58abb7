import { labels } from '../../crds/labels.ts';
import { createInformer, type Informer } from '../../lib/informer/index.ts';
import { slimMetadata } from '../../lib/informer/slim-metadata.ts';
import { type Pod, pods } from '../../lib/kube/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { ownedBy, podOwner } from './step.ts';

/** By the uid of the owner, by its kind and key (`ownedBy`), and by the keys of the claims that a pod mounts. */
type PodIndex = 'ownerUid' | 'owner' | 'claim';

/**
 * The pods of steps, whatever owns them. Their label is the one that the policy `step-pods` keeps from other writers: a pod that a tenant makes
 * is never listed.
 */
export const podInformer: InformerSpec<Informer<Pod, PodIndex>> = {
  name: 'pods',
  kind: 'Pod',
  open: (deps) =>
    createInformer(deps, {
      resource: pods,
      labelSelector: labels.executionUid,
      strip: slimPod,
      indexes: {
        ownerUid: ({ metadata }) => idsOf(metadata.labels?.[labels.executionUid]),
        owner(pod) {
          const owner = podOwner(pod);
          return owner === undefined ? [] : [ownedBy(owner.kind, owner.key)];
        },
        claim: mountedClaimKeys,
      },
    }),
};

const idsOf = (id: string | undefined): string[] => (id === undefined ? [] : [id]);

/** The claims that a pod mounts, as `namespace/name`. */
export const mountedClaimKeys = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [`${metadata.namespace}/${claim.claimName}`],
  );

/** No reader needs more of a pod's spec than its node and its claims, nor fields that others wrote on it. */
function slimPod({ metadata, spec, ...pod }: Pod): Pod {
  const { nodeName } = spec;
  const claims = spec.volumes?.filter(({ persistentVolumeClaim: claim }) => claim !== undefined) ?? [];
  return {
    ...pod,
    metadata: slimMetadata(metadata),
    spec: {
      containers: [],
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(claims.length === 0 ? {} : { volumes: claims }),
    },
  };
}

import { labels } from '../../crds/labels.ts';
import { createInformer, type Informer } from '../../lib/informer/index.ts';
import { slimMetadata } from '../../lib/informer/slim-metadata.ts';
import { type KubeObject, type Pod, pods } from '../../lib/kube/index.ts';
import type { InformerSpec } from '../runtime/module.ts';

/**
 * The pods of steps. Their label is the one that the policy `step-pods` keeps from other writers: a pod that a tenant makes
 * is never listed.
 */
export const podInformer: InformerSpec<Informer<Pod, 'executionUid' | 'executionKey' | 'claim'>> = {
  name: 'pods',
  kind: 'Pod',
  open: (deps) =>
    createInformer(deps, {
      resource: pods,
      labelSelector: labels.executionUid,
      strip: slimPod,
      indexes: {
        executionUid: ({ metadata }) => idsOf(metadata.labels?.[labels.executionUid]),
        executionKey: (pod) => idsOf(executionKey(pod)),
        claim: claimKeys,
      },
    }),
};

const idsOf = (id: string | undefined): string[] => (id === undefined ? [] : [id]);

/** Where the execution of a pod is, or was: a deletion that orphans its dependents leaves only the label. */
export function executionKey(pod: Pod): string | undefined {
  const name = pod.metadata.labels?.[labels.execution];
  return ownerKey(pod, 'WorkflowExecution') ?? (name === undefined ? undefined : `${pod.metadata.namespace}/${name}`);
}

/** `namespace/name` of the owner of a kind. */
function ownerKey({ metadata }: KubeObject, kind: string): string | undefined {
  const owner = metadata.ownerReferences?.find((reference) => reference.kind === kind);
  return owner === undefined ? undefined : `${metadata.namespace}/${owner.name}`;
}

/** The claims that a pod mounts, as `namespace/name`. */
export const claimKeys = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [`${metadata.namespace}/${claim.claimName}`],
  );

/** Nobody reads more of a pod's spec than its node and its claims, nor what others wrote on it. */
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

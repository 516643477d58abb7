import { labels } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';

/**
 * The object that a step runs for. Its pods are in its namespace, whose tenant pays for them, and Kubernetes deletes them
 * with it.
 */
export interface StepOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** On each of its pods. `windlass.dev/execution-uid` must be the owner's uid: the policy `step-pods` guards that label. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Which pod of its owner: the same name for the same step, so that it is made once. */
export interface StepPodName {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The label with an owner's name, by kind: a deletion that orphans pods leaves nothing else. */
const nameLabels: readonly (readonly [kind: string, label: string])[] = [
  ['WorkflowExecution', labels.execution],
  ['AgentExecution', labels.agentExecution],
  ['GitBinding', labels.gitBinding],
];

interface OwnerOfPod {
  readonly kind: string;
  /** `namespace/name`. */
  readonly key: string;
}

/** Whose step a pod runs, or ran. */
export function ownerOf({ metadata }: Pod): OwnerOfPod | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner !== undefined) return { kind: owner.kind, key: `${metadata.namespace}/${owner.name}` };
  const [kind, label] = nameLabels.find(([, found]) => metadata.labels?.[found] !== undefined) ?? [];
  if (kind === undefined || label === undefined) return undefined;
  return { kind, key: `${metadata.namespace}/${metadata.labels?.[label]}` };
}

/** The key of the owner of a pod, where it is of this kind. */
export function ownerKey(pod: Pod, kind: string): string | undefined {
  const owner = ownerOf(pod);
  return owner?.kind === kind ? owner.key : undefined;
}

/** The value of the index `owner` for the pods of one owner. */
export const ownedBy = (kind: string, key: string): string => `${kind} ${key}`;

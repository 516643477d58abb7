/** The part of object metadata that Windlass reads and writes. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** A namespaced object of one of our kinds. */
export interface KubernetesObject<Kind extends string, Spec, Status> {
  apiVersion: 'windlass.dev/v1';
  kind: Kind;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

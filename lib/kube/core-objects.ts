import type { KubeObject } from './objects.ts';

/** The built-in kinds, with the fields that this project reads or writes; the server keeps the others. */

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly configMapKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

export interface ResourceAmounts {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

interface ContainerSecurityContext {
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
}

interface PodSecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: string;
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly resources?: ResourceAmounts;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly securityContext?: ContainerSecurityContext;
  readonly terminationMessagePolicy?: string;
}

export interface PodVolume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly image?: { readonly reference: string; readonly pullPolicy?: string };
  readonly secret?: {
    readonly secretName: string;
    readonly optional?: boolean;
    readonly defaultMode?: number;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly projected?: {
    readonly sources: readonly {
      readonly serviceAccountToken?: {
        readonly audience: string;
        readonly expirationSeconds: number;
        readonly path: string;
      };
    }[];
  };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly PodVolume[];
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly serviceAccountName?: string;
  readonly affinity?: unknown;
  readonly nodeName?: string;
  readonly tolerations?: readonly unknown[];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly securityContext?: PodSecurityContext;
  readonly runtimeClassName?: string;
  readonly activeDeadlineSeconds?: number;
}

export interface ContainerStateTerminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: ContainerStateTerminated;
}

interface ContainerStatus {
  readonly name: string;
  /** As `containerd://ID`. */
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly image?: string;
  readonly state?: ContainerState;
}

interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly podIP?: string;
  readonly hostIP?: string;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Base64. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly volumeName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: {
    readonly phase?: string;
    readonly capacity?: Readonly<Record<string, string>>;
    readonly conditions?: readonly PodCondition[];
  };
}

export interface ControllerRevision extends KubeObject {
  readonly data?: unknown;
  readonly revision: number;
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    /** RFC 3339 with microseconds, as the API server demands of a MicroTime. */
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** events.k8s.io/v1 */
export interface Event extends KubeObject {
  readonly eventTime: string;
  readonly type: string;
  readonly reason: string;
  readonly action: string;
  readonly note?: string;
  readonly regarding: ObjectReference;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly deprecatedLastTimestamp?: string;
}

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string };
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly podCIDR?: string };
  readonly status?: { readonly conditions?: readonly PodCondition[] };
}

export interface ResourceQuota extends KubeObject {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly used?: Readonly<Record<string, string>>;
  };
}

export interface NetworkPolicy extends KubeObject {
  readonly spec?: {
    readonly podSelector: {
      readonly matchLabels?: Readonly<Record<string, string>>;
      readonly matchExpressions?: readonly unknown[];
    };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly unknown[];
    readonly egress?: readonly unknown[];
  };
}

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export interface Role extends KubeObject {
  readonly rules: readonly PolicyRule[];
}

export interface RoleBinding extends KubeObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly apiGroup?: string;
  }[];
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string;
}

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: unknown;
  readonly status?: { readonly conditions?: readonly PodCondition[] };
}

import { labels } from '../crds/labels.ts';
import type { StimulusRouter } from '../crds/schema/stimulus-router.ts';
import type { Volume } from '../crds/schema/volume.ts';
import type { Workflow } from '../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { workflowIndexes } from '../lib/catalogue/index.ts';
import { AppError } from '../lib/errors.ts';
import { createInformer, type Informer, type ReflectorDeps, stripStrangers } from '../lib/informer/index.ts';
import { stimulusRouters, volumes, workflowExecutions, workflows } from '../lib/kinds.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  type KubeClient,
  type KubeObject,
  type Namespace,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
} from '../lib/kube/index.ts';
import { isStored } from '../lib/registration/index.ts';
import { claimKeysOf } from '../lib/stimulus/claims.ts';
import { createTenantInformer, type TenantIndex } from '../lib/tenant/tenant-directory.ts';
import { rootOf } from './execution/engine/names.ts';
import { slimClaim, slimPod, wholeExecutions, wholeRevisions, wholeWorkflows } from './slim-objects.ts';
import { claimKey } from './volume/decide.ts';

const ours = `${labels.managedBy}=windlass`;

/** One cache for each kind that the controllers look at. */
export interface Informers {
  readonly workflows: Informer<Workflow, keyof typeof workflowIndexes>;
  /** `root`: `namespace/uid` of the execution that began it all, of those that another one started. */
  readonly executions: Informer<WorkflowExecution, 'parentUid' | 'originUid' | 'root' | 'workflow' | 'revision'>;
  /** `claim`: key of the claim that `spec.claim_name` names. */
  readonly volumes: Informer<Volume, 'claim'>;
  readonly revisions: Informer<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  readonly pods: Informer<Pod, 'executionUid' | 'executionKey' | 'claim'>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly routers: Informer<StimulusRouter, 'source' | 'workflow' | 'namespace'>;
  /** Namespaces with a tenant's label. */
  readonly tenants: Informer<Namespace, TenantIndex>;
}

/** A volume that names no claim has one of its own name, which is its own key. */
export const volumeIndexes = {
  claim: (volume: Volume): string[] => (volume.spec.claim_name === undefined ? [] : [claimKey(volume)]),
} as const;

/** `deps` gives each kind its own observer. */
export function createInformers(deps: (kind: string) => ReflectorDeps, kube: Reader): Informers {
  return {
    workflows: workflowInformer(deps('Workflow'), kube),
    executions: executionInformer(deps('WorkflowExecution'), kube),
    volumes: createInformer(deps('Volume'), {
      resource: volumes,
      parse: withSpec,
      strip: stripStrangers,
      indexes: volumeIndexes,
    }),
    revisions: revisionInformer(deps('ControllerRevision'), kube),
    pods: podInformer(deps('Pod')),
    // All of them: `spec.claim_name` may name one that somebody else has made.
    claims: createInformer(deps('PersistentVolumeClaim'), { resource: persistentVolumeClaims, strip: slimClaim }),
    routers: routerInformer(deps('StimulusRouter')),
    tenants: createTenantInformer(deps('Namespace')),
  };
}

type Reader = Pick<KubeClient, 'get'>;

const workflowInformer = (deps: ReflectorDeps, kube: Reader): Informers['workflows'] =>
  createInformer(deps, {
    resource: workflows,
    parse: withSpec,
    wholes: wholeWorkflows({ kube, clock: deps.clock }),
    indexes: workflowIndexes,
  });

const executionInformer = (deps: ReflectorDeps, kube: Reader): Informers['executions'] =>
  createInformer(deps, {
    resource: workflowExecutions,
    parse: withSpec,
    wholes: wholeExecutions({ kube, clock: deps.clock }),
    indexes: {
      parentUid: ({ spec }) => idsOf(spec.parent?.uid),
      originUid: ({ spec }) => idsOf(spec.origin?.uid),
      root: (execution) => descendantOf(execution),
      workflow: ({ spec }) => [spec.workflow],
      revision: (execution) => idsOf(revisionKey(execution)),
    },
  });

const revisionInformer = (deps: ReflectorDeps, kube: Reader): Informers['revisions'] =>
  createInformer(deps, {
    resource: controllerRevisions,
    labelSelector: ours,
    wholes: wholeRevisions({ kube, clock: deps.clock }),
    indexes: {
      workflowUid: (revision) => idsOf(workflowUidKey(revision)),
      workflowKey: (revision) => idsOf(workflowKey(revision)),
    },
  });

/**
 * The pods of steps. Their label is the one that the policy `step-pods` keeps from other writers: a pod that a tenant makes
 * is never listed.
 */
function podInformer(deps: ReflectorDeps): Informers['pods'] {
  return createInformer(deps, {
    resource: pods,
    labelSelector: labels.executionUid,
    strip: slimPod,
    indexes: {
      executionUid: ({ metadata }) => idsOf(metadata.labels?.[labels.executionUid]),
      executionKey: (pod) => idsOf(executionKey(pod)),
      claim: claimKeys,
    },
  });
}

/** Routers by the claims of their sources, by the workflows that they name and by namespace. */
function routerInformer(deps: ReflectorDeps): Informers['routers'] {
  return createInformer(deps, {
    resource: stimulusRouters,
    parse: withSpec,
    strip: stripStrangers,
    indexes: {
      source: claimKeysOf,
      workflow: ({ spec }) => Object.values(spec.routes ?? {}),
      namespace: ({ metadata }) => idsOf(metadata.namespace),
    },
  });
}

/** Says whether a namespace is being deleted. */
export const endingNamespaces =
  ({ tenants }: Pick<Informers, 'tenants'>) =>
  (namespace: string): boolean =>
    tenants.cache.get(namespace)?.metadata.deletionTimestamp !== undefined;

/** Slug of the tenant that a namespace is; empty where it is none. */
export const tenantOf = ({ tenants }: Pick<Informers, 'tenants'>, namespace: string): string =>
  tenants.cache.get(namespace)?.metadata.labels?.[labels.tenant] ?? '';

const idsOf = (id: string | undefined): string[] => (id === undefined ? [] : [id]);

/** `namespace/name` of the owner of a kind. */
export function ownerKey({ metadata }: KubeObject, kind: string): string | undefined {
  const owner = metadata.ownerReferences?.find((reference) => reference.kind === kind);
  return owner === undefined ? undefined : `${metadata.namespace}/${owner.name}`;
}

/** `namespace/name` of the workflow of a revision; undefined for what somebody else labelled like one. */
export function workflowKey(revision: ControllerRevision): string | undefined {
  const { namespace, labels: given } = revision.metadata;
  return isStored(revision) ? `${namespace}/${given?.[labels.workflow]}` : undefined;
}

/** `namespace/uid` of the workflow of a revision: the uid alone would take in the revisions of other namespaces. */
function workflowUidKey(revision: ControllerRevision): string | undefined {
  const { namespace, labels: given } = revision.metadata;
  return isStored(revision) ? `${namespace}/${given?.[labels.workflowUid]}` : undefined;
}

const descendantOf = (execution: WorkflowExecution): string[] =>
  execution.spec.parent === undefined ? [] : [`${execution.metadata.namespace}/${rootOf(execution)}`];

/** `namespace/name` of the revision that an execution runs. */
export function revisionKey({ status }: WorkflowExecution): string | undefined {
  return status?.workflow === undefined ? undefined : `${status.workflow.namespace}/${status.workflow.revision}`;
}

/** Where the execution of a pod is, or was: a deletion that orphans its dependents leaves only the label. */
export function executionKey(pod: Pod): string | undefined {
  const name = pod.metadata.labels?.[labels.execution];
  return ownerKey(pod, 'WorkflowExecution') ?? (name === undefined ? undefined : `${pod.metadata.namespace}/${name}`);
}

/** Refuses an object that got past the API server without a spec. */
function withSpec<T extends KubeObject & { readonly spec: object }>(object: T): T {
  if (typeof object.spec !== 'object' || object.spec === null) throw new AppError('invalid', 'the object has no spec');
  return object;
}

/** The claims that a pod mounts, as `namespace/name`. */
export const claimKeys = ({ metadata, spec }: Pod): string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [`${metadata.namespace}/${claim.claimName}`],
  );

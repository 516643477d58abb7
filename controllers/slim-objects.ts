import type { Workflow } from '../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import type { Clock } from '../lib/clock.ts';
import { finished } from '../lib/execution/finished.ts';
import { slimExecution } from '../lib/execution/slim-execution.ts';
import { heapBytes } from '../lib/heap-bytes.ts';
import { slimMetadata } from '../lib/informer/slim-metadata.ts';
import { createWholeObjects, type WholeObjects } from '../lib/informer/index.ts';
import { workflowExecutions, workflows } from '../lib/kinds.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  type KubeClient,
  type PersistentVolumeClaim,
  type Pod,
} from '../lib/kube/index.ts';

interface Reader {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
}

/** Bytes of heap for whole versions, by kind: those used last spare a request. */
const keptBytes = { executions: 32 * 1024 * 1024, revisions: 24 * 1024 * 1024, workflows: 16 * 1024 * 1024 } as const;

/** A finished execution is read by its parent alone. */
export const wholeExecutions = (reader: Reader): WholeObjects<WorkflowExecution> =>
  createWholeObjects({
    ...reader,
    resource: workflowExecutions,
    slim: (execution) => slimExecution(execution),
    isSpared: (execution) => !finished(execution) || execution.spec.parent !== undefined,
    keptBytes: keptBytes.executions,
  });

/** A definition of less than this stays in the cache: most are, and every reconcile needs one. */
const smallBytes = 16 * 1024;
const isSmall = (object: object): boolean => heapBytes(object, smallBytes) < smallBytes;

export const wholeRevisions = (reader: Reader): WholeObjects<ControllerRevision> =>
  createWholeObjects({
    ...reader,
    resource: controllerRevisions,
    slim: slimRevision,
    isWhole: ({ data }) => data !== undefined,
    keptBytes: keptBytes.revisions,
  });

/** Everything of a revision but its content wakes somebody or is compared. */
export function slimRevision(object: ControllerRevision): ControllerRevision {
  if (isSmall(object)) return object;
  const { metadata, revision } = object;
  return { metadata: slimMetadata(metadata), revision };
}

/** Versions that stay in the cache; older ones are looked up by their label. */
const versionsKept = 20;

export const wholeWorkflows = (reader: Reader): WholeObjects<Workflow> =>
  createWholeObjects({
    ...reader,
    resource: workflows,
    slim: slimWorkflow,
    isWhole: ({ spec }) => Object.keys(spec.states).length > 0,
    keptBytes: keptBytes.workflows,
  });

/** A start needs the name, the verdict and the revision; the definition stands in the revision. */
export function slimWorkflow(workflow: Workflow): Workflow {
  if (isSmall(workflow)) return workflow;
  const { apiVersion, kind, metadata, spec, status } = workflow;
  const { version, initial_state: initialState } = spec;
  const versions = status?.versions?.slice(0, versionsKept);
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: { version, initial_state: initialState, states: {} },
    ...(status === undefined ? {} : { status: versions === undefined ? status : { ...status, versions } }),
  };
}

/** Whose a claim is and how it does; the rest of it is other people's, and of any size. */
export function slimClaim({ metadata, status }: PersistentVolumeClaim): PersistentVolumeClaim {
  return {
    metadata: slimMetadata(metadata),
    spec: { accessModes: [], resources: {} },
    status: { phase: status?.phase },
  };
}

/** Nobody reads more of a pod's spec than its node and its claims, nor what others wrote on it. */
export function slimPod({ metadata, spec, ...pod }: Pod): Pod {
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

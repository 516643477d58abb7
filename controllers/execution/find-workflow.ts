import { conditionTypes } from '../../crds/conditions.ts';
import { annotations, globalNamespace } from '../../crds/labels.ts';
import type { Workflow, WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { compareVersions } from '../../lib/informer/resource-version.ts';
import { workflows as workflowKind } from '../../lib/kinds.ts';
import { type ControllerRevision, controllerRevisions, isNotFound, type KubeClient } from '../../lib/kube/index.ts';
import type { Definition, Failure, WorkflowLookup } from './facts.ts';

export interface FindWorkflowDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  /** Under the index `name`: the manifest's name where it is not the object's (AMB-089), as `namespace/name`. */
  readonly workflows: CacheReader<Workflow, 'name'>;
  readonly revisions: CacheReader<ControllerRevision, string>;
}

/** Finds definitions: by name in the execution's namespace, then in the global one, or by uid in either. */
export interface FindWorkflow {
  /** The workflow that a name or uid means now, in a version or the newest. */
  current(namespace: string, workflow: string, version?: string): Promise<WorkflowLookup>;
  /** The workflow that an execution runs: pinned once it has started (design §4). */
  pinned(execution: WorkflowExecution): Promise<WorkflowLookup>;
}

export function createFindWorkflow(deps: FindWorkflowDeps): FindWorkflow {
  const find = async (namespace: string, wanted: string, version?: string): Promise<WorkflowLookup> => {
    const known = cached(deps, namespace, wanted);
    const lookup = await judge(deps, known, { namespace, wanted, version });
    if (lookup.kind !== 'absent') return lookup;
    const latest = await confirm(deps, known, { namespace, wanted, version });
    return latest === known ? lookup : judge(deps, latest, { namespace, wanted, version });
  };
  return {
    current: find,
    pinned: ({ metadata, spec, status }) =>
      status?.workflow === undefined
        ? find(metadata.namespace ?? '', spec.workflow, spec.version)
        : pinned(deps, status.workflow),
  };
}

interface Wish {
  readonly namespace: string;
  /** A name or uid. */
  readonly wanted: string;
  /** Absent: the newest. */
  readonly version: string | undefined;
}

async function judge(
  deps: FindWorkflowDeps,
  workflow: Workflow | undefined,
  { namespace, wanted, version }: Wish,
): Promise<WorkflowLookup> {
  if (workflow === undefined) return absent('WorkflowNotFound', notFound(namespace, wanted));
  return version === undefined ? newest(deps, workflow) : stored(deps, workflow, version);
}

/**
 * The workflow as the server has it. The cache may be a moment behind what a user has just applied, and an execution
 * that fails for it stays failed: nothing is refused before the server was asked.
 */
async function confirm(
  deps: FindWorkflowDeps,
  known: Workflow | undefined,
  { namespace, wanted }: Wish,
): Promise<Workflow | undefined> {
  const fresh =
    known === undefined
      ? ((await live(deps, namespace, wanted)) ?? (await live(deps, globalNamespace, wanted)))
      : await live(deps, known.metadata.namespace ?? '', known.metadata.name);
  // The watch may have overtaken the answer; what it has brought already will wake nobody again.
  const now = cached(deps, namespace, wanted);
  const overtaken = compareVersions(now?.metadata.resourceVersion, fresh?.metadata.resourceVersion) > 0;
  return overtaken ? now : fresh;
}

type Pin = NonNullable<NonNullable<WorkflowExecution['status']>['workflow']>;

async function pinned(deps: FindWorkflowDeps, pin: Pin): Promise<WorkflowLookup> {
  const content = await revisionSpec(deps, pin.namespace, pin.revision);
  if (content === undefined) {
    return absent('WorkflowNotFound', `revision ${pin.namespace}/${pin.revision} that this execution runs is gone`);
  }
  return found({ ...pin, spec: content });
}

/** The object of a name or uid; a Workflow in the execution's own namespace hides a global one of the same name. */
function cached({ workflows }: FindWorkflowDeps, namespace: string, wanted: string): Workflow | undefined {
  const byUid = workflows.getByUid(wanted);
  const places = [namespace, globalNamespace];
  if (byUid !== undefined && places.includes(byUid.metadata.namespace ?? '')) return byUid;
  for (const place of places) {
    const match = workflows.get(`${place}/${wanted}`) ?? workflows.byIndex('name', `${place}/${wanted}`)[0];
    if (match !== undefined) return match;
  }
  return undefined;
}

/** The workflow of this name on the server. */
async function live({ kube }: FindWorkflowDeps, namespace: string, wanted: string): Promise<Workflow | undefined> {
  try {
    return await kube.get(workflowKind, { namespace, name: wanted });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function newest(deps: FindWorkflowDeps, workflow: Workflow): Promise<WorkflowLookup> {
  const { metadata, status } = workflow;
  const ready = status?.conditions?.find(({ type }) => type === conditionTypes.ready);
  if (ready === undefined || ready.observedGeneration !== metadata.generation) {
    return { kind: 'not_ready', failure: notReady(workflow, 'its definition has not been checked yet') };
  }
  const revision = status?.revision;
  if (ready.status === 'True' && revision !== undefined)
    return definition(deps, workflow, revision, workflow.spec.version);
  return { kind: 'absent', failure: notReady(workflow, `${ready.reason}: ${ready.message}`) };
}

function notReady(workflow: Workflow, why: string): Failure {
  return { reason: 'WorkflowNotReady', message: `workflow ${nameOf(workflow)}: ${why}` };
}

async function stored(deps: FindWorkflowDeps, workflow: Workflow, version: string): Promise<WorkflowLookup> {
  const row = workflow.status?.versions?.find((known) => known.version === version);
  if (row !== undefined) return definition(deps, workflow, row.revision, version);
  if (workflow.spec.version === version) return newest(deps, workflow);
  return absent('VersionNotFound', `workflow ${nameOf(workflow)} has no stored version ${version}`);
}

async function definition(deps: FindWorkflowDeps, workflow: Workflow, revision: string, version: string) {
  const { namespace = '', uid = '' } = workflow.metadata;
  const spec = await revisionSpec(deps, namespace, revision);
  if (spec === undefined) return absent('VersionNotFound', `revision ${namespace}/${revision} is gone`);
  return found({ name: nameOf(workflow), namespace, uid, version, revision, spec });
}

async function revisionSpec(
  { kube, revisions }: FindWorkflowDeps,
  namespace: string,
  name: string,
): Promise<WorkflowSpec | undefined> {
  const known = revisions.get(`${namespace}/${name}`);
  if (known !== undefined) return (known.data as { spec: WorkflowSpec }).spec;
  try {
    const revision = await kube.get(controllerRevisions, { namespace, name });
    revisions.remember(revision);
    return (revision.data as { spec: WorkflowSpec }).spec;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The name of the manifest, which is the object's own wherever that is possible (requirements AMB-089). */
export const nameOf = ({ metadata }: Workflow): string => metadata.annotations?.[annotations.name] ?? metadata.name;

const found = (value: Definition): WorkflowLookup => ({ kind: 'found', definition: value });
const absent = (reason: Failure['reason'], message: string): WorkflowLookup => ({
  kind: 'absent',
  failure: { reason, message },
});
const notFound = (namespace: string, wanted: string): string =>
  `no Workflow has the name or uid ${wanted} in namespace ${namespace} or ${globalNamespace}`;

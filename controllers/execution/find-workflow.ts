import { globalNamespace, labels } from '../../crds/labels.ts';
import { readyOf } from '../../crds/ready.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import {
  answersTo,
  cachedWorkflow,
  isVisible,
  type ObjectPlace,
  placesOf,
  placesThatHide,
  scopeOf,
  scopes,
  type WantedWorkflow,
  type WorkflowCache,
} from '../../lib/workflow-lookup/index.ts';
import { isBeingDeleted } from '../../lib/being-deleted.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { compareResourceVersions } from '../../lib/informer/resource-version.ts';
import { type ControllerRevision, controllerRevisions, findObject, type KubeClient } from '../../lib/kube/index.ts';
import { isNameOfOurs, workflowName } from '../../lib/manifest/object-name.ts';
import { holdsItsContent, isContentOf, isRevisionOf, specOf, storedRevision } from '../../lib/registration/index.ts';
import type { ServerReads } from '../../lib/server-reads.ts';
import type { PinnedDefinition, Failure, WorkflowLookup } from './engine/facts.ts';

interface FindWorkflowDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly workflows: WorkflowCache;
  readonly readWorkflow: ServerReads<Workflow>;
  readonly revisions: CacheReader<ControllerRevision, string>;
  /** A revision of the cache with its content. */
  readonly wholeRevision: (revision: ControllerRevision) => Promise<ControllerRevision | undefined>;
}

/** A name or uid in a definition, and whose names count there besides those of the tenant and the global ones. */
interface Reference {
  readonly namespace: string;
  readonly workflow: string;
  /** Owner of the definition that holds the name, where it is a user's own. */
  readonly user?: string | undefined;
}

/** Finds definitions: by name in the execution's namespace, then in the global one, or by uid in either. */
export interface FindWorkflow {
  /** The newest version of the workflow that a name or uid means now. */
  current(reference: Reference): Promise<WorkflowLookup>;
  /** The workflow that an execution runs: pinned once it has started (design §4). */
  pinned(execution: WorkflowExecution): Promise<WorkflowLookup>;
}

export function createFindWorkflow(deps: FindWorkflowDeps): FindWorkflow {
  const find = async (wish: Wish): Promise<WorkflowLookup> => {
    const known = await narrowest(deps, wish);
    const lookup = await judge(deps, known, wish);
    if (lookup.kind !== 'absent') return lookup;
    const latest = await confirm(deps, known, wish);
    return latest === known ? lookup : judge(deps, latest, wish);
  };
  return {
    current: ({ namespace, workflow, user }) =>
      find({ namespace, nameOrUid: workflow, ...(user === undefined ? {} : { user }) }),
    pinned: ({ metadata, spec, status }) =>
      status?.workflow === undefined
        ? find({ namespace: metadata.namespace ?? '', nameOrUid: spec.workflow, anyUser: true, version: spec.version })
        : pinned(deps, metadata.namespace ?? '', status.workflow),
  };
}

interface Wish extends WantedWorkflow {
  /** Absent: the newest. */
  readonly version?: string | undefined;
}

async function judge(deps: FindWorkflowDeps, workflow: Workflow | undefined, wish: Wish): Promise<WorkflowLookup> {
  if (workflow === undefined) return absent('WorkflowNotFound', notFound(wish));
  if (isBeingDeleted(workflow)) {
    return absent('WorkflowNotFound', `workflow ${workflowName(workflow.metadata)} is being deleted`);
  }
  return wish.version === undefined ? newest(deps, workflow) : stored(deps, workflow, wish.version);
}

/**
 * The workflow of the cache, unless the server has one that hides it: the cache may not show yet what was created before the
 * execution, and one that began with another workflow keeps that (ADR 0156).
 */
async function narrowest(deps: FindWorkflowDeps, wish: Wish): Promise<Workflow | undefined> {
  const known = cached(deps, wish);
  const places = known === undefined ? [] : placesThatHide(known, wish);
  if (places.length === 0) return known;
  return newerOf(deps, wish, await live(deps, wish, [...places, ...objectPlaces(wish, [wish.namespace])]));
}

/**
 * The workflow as the server has it. The cache may be a moment behind what a user has just applied, and an execution
 * that fails for it stays failed. So nothing is refused before the server was asked.
 */
async function confirm(deps: FindWorkflowDeps, known: Workflow | undefined, wish: Wish): Promise<Workflow | undefined> {
  if (known === undefined) {
    const places = [...placesOf(wish), ...objectPlaces(wish, [wish.namespace, globalNamespace])];
    return newerOf(deps, wish, await live(deps, wish, places));
  }
  const read = await deps.readWorkflow({ namespace: known.metadata.namespace, name: known.metadata.name });
  return newerOf(deps, wish, read !== undefined && isMeant(read, wish) ? read : undefined);
}

/** The watch may have overtaken what was read; its earlier events will not wake the execution again. */
function newerOf(deps: FindWorkflowDeps, wish: Wish, read: Workflow | undefined): Workflow | undefined {
  const now = cached(deps, wish);
  if (now === undefined || read === undefined) return now ?? read;
  const narrower = scopes.indexOf(scopeOf(now)) - scopes.indexOf(scopeOf(read));
  const newer = compareResourceVersions(read.metadata.resourceVersion, now.metadata.resourceVersion);
  return (narrower || newer) < 0 ? now : read;
}

type Pin = NonNullable<NonNullable<WorkflowExecution['status']>['workflow']>;

/** Where no admission policy guards a status it may say anything: what it names is checked as if it were asked for. */
async function pinned(deps: FindWorkflowDeps, namespace: string, pin: Pin): Promise<WorkflowLookup> {
  const isOwn = pin.namespace === namespace || pin.namespace === globalNamespace;
  const revision = isOwn ? await revisionOf(deps, pin.namespace, pin.revision) : undefined;
  if (revision === undefined || !isPinned(revision, pin)) {
    return absent('WorkflowNotFound', `revision ${pin.namespace}/${pin.revision} that this execution runs is gone`);
  }
  return found({ ...pin, ...contentOf(revision) });
}

function isPinned(revision: ControllerRevision, pin: Pin): boolean {
  const { namespace, labels: given } = revision.metadata;
  const metadata = { name: given?.[labels.workflow] ?? '', namespace: namespace ?? '', uid: pin.uid };
  return isRevisionOf({ metadata }, revision) && holdsItsContent(revision);
}

/** By name, uid or the uid of an earlier scope; else by the name of its object, which kubectl shows. */
function cached({ workflows }: FindWorkflowDeps, wish: Wish): Workflow | undefined {
  const known = cachedWorkflow(workflows, wish);
  if (known !== undefined) return known;
  const byObject = [wish.namespace, globalNamespace].map((place) => workflows.get(`${place}/${wish.nameOrUid}`));
  return byObject.find((workflow) => workflow !== undefined && isVisible(workflow, wish));
}

/** The first workflow of these places that is meant, as the server has it. */
async function live(deps: FindWorkflowDeps, wish: Wish, places: readonly ObjectPlace[]): Promise<Workflow | undefined> {
  for (const place of places) {
    const workflow = await deps.readWorkflow(place);
    if (workflow !== undefined && isMeant(workflow, wish)) return workflow;
  }
  return undefined;
}

/** The places of an object that is named like those that we derive; the wish may be for the object by its name. */
const objectPlaces = ({ nameOrUid: name }: Wish, namespaces: readonly string[]): ObjectPlace[] =>
  isNameOfOurs(name) ? namespaces.map((namespace) => ({ namespace, name })) : [];

/** By what it records of itself, or by the name of its object. */
const isMeant = (workflow: Workflow, wish: Wish): boolean =>
  answersTo(workflow, wish) || (workflow.metadata.name === wish.nameOrUid && isVisible(workflow, wish));

async function newest(deps: FindWorkflowDeps, workflow: Workflow): Promise<WorkflowLookup> {
  const ready = readyOf(workflow);
  if (ready === undefined) {
    return { kind: 'not_ready', failure: notReady(workflow, 'its definition has not been checked yet') };
  }
  const revision = workflow.status?.revision;
  if (ready.status === 'True' && revision !== undefined)
    return definition(deps, workflow, revision, workflow.spec.version);
  return { kind: 'absent', failure: notReady(workflow, `${ready.reason}: ${ready.message}`) };
}

function notReady(workflow: Workflow, why: string): Failure {
  return { reason: 'WorkflowNotReady', message: `workflow ${workflowName(workflow.metadata)}: ${why}` };
}

async function stored(deps: FindWorkflowDeps, workflow: Workflow, version: string): Promise<WorkflowLookup> {
  const row = workflow.status?.versions?.find((known) => known.version === version);
  if (row !== undefined) return definition(deps, workflow, row.revision, version);
  if (workflow.spec.version === version) return newest(deps, workflow);
  // The API stores a version before another one takes its place; the status lists it a moment later.
  const revision = await storedRevision(deps.kube, workflow, version);
  if (revision?.metadata.name !== undefined) return definition(deps, workflow, revision.metadata.name, version);
  return absent('VersionNotFound', `workflow ${workflowName(workflow.metadata)} has no stored version ${version}`);
}

async function definition(deps: FindWorkflowDeps, workflow: Workflow, name: string, version: string) {
  const { namespace = '', uid = '' } = workflow.metadata;
  const revision = await revisionOf(deps, namespace, name);
  if (revision === undefined || !isContentOf(workflow, revision, version)) {
    return absent('VersionNotFound', `revision ${namespace}/${name} is gone`);
  }
  return found({
    name: workflowName(workflow.metadata),
    namespace,
    uid,
    version,
    revision: name,
    ...contentOf(revision),
  });
}

async function revisionOf(
  { kube, revisions, wholeRevision }: FindWorkflowDeps,
  namespace: string,
  name: string,
): Promise<ControllerRevision | undefined> {
  const known = revisions.get(`${namespace}/${name}`);
  if (known !== undefined) return wholeRevision(known);
  const revision = await findObject(kube, controllerRevisions, { namespace, name });
  if (revision !== undefined) revisions.remember(revision);
  return revision;
}

function contentOf(revision: ControllerRevision): Pick<PinnedDefinition, 'spec' | 'user'> {
  const user = revision.metadata.labels?.[labels.user];
  return { spec: specOf(revision), ...(user === undefined ? {} : { user }) };
}

const found = (value: PinnedDefinition): WorkflowLookup => ({ kind: 'found', definition: value });
const absent = (reason: Failure['reason'], message: string): WorkflowLookup => ({
  kind: 'absent',
  failure: { reason, message },
});
const notFound = ({ nameOrUid, namespace }: Wish): string =>
  `no Workflow has the name or uid ${nameOrUid} in namespace ${namespace} or ${globalNamespace}`;

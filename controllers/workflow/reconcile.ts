import { annotations } from '../../crds/labels.ts';
import type { Workflow, WorkflowStatus } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { cachedWorkflow, ownerOf, type WorkflowCache } from '../../lib/catalogue/index.ts';
import { canonicalHash } from '../../lib/definition/canonical.ts';
import { changedFields } from '../../lib/definition/changed-fields.ts';
import { checkDefinition, type Problem } from '../../lib/definition/check.ts';
import { checkChildren, type FindSpec } from '../../lib/definition/check-children.ts';
import { AppError, WaitError } from '../../lib/errors.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { workflows } from '../../lib/kinds.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  createUnlessExists,
  findObject,
  isForbidden,
  type KubeClient,
  refOfKey,
} from '../../lib/kube/index.ts';
import {
  holdsItsContent,
  isContentOf,
  isRevisionOf,
  registeredAt,
  revisionName,
  revisionOf,
  specOf,
} from '../../lib/registration/index.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { collectReplaced, collectRevisions } from './collect-revisions.ts';
import {
  decideWorkflow,
  replacedContents,
  type StoredRevision,
  type WorkflowFacts,
  withoutName,
  withoutRights,
} from './decide.ts';

interface WorkflowDeps {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly workflows: WorkflowCache;
  readonly wholeWorkflow: (workflow: Workflow) => Promise<Workflow | undefined>;
  readonly wholeRevision: (revision: ControllerRevision) => Promise<ControllerRevision | undefined>;
  /** Revisions by the `namespace/uid` of their workflow, and by its `namespace/name`. */
  readonly revisions: CacheReader<ControllerRevision, 'workflowUid' | 'workflowKey'>;
  /** Executions by the revision they run, as `namespace/name`, and by the workflow they name. */
  readonly executions: CacheReader<WorkflowExecution, 'revision' | 'workflow'>;
  /** Whether a namespace is being deleted: Kubernetes clears it by itself. */
  readonly isEnding: (namespace: string) => boolean;
  /** Gives the check of each definition, and the look at each child, a turn of the event loop of its own. */
  readonly turns: TurnGate;
}

/** Checks a definition, stores it as an immutable revision and says so in its status (design §4). */
export function createWorkflowReconcile(deps: WorkflowDeps): (key: string) => Promise<void> {
  return async (key) => {
    if (deps.isEnding(refOfKey(key).namespace ?? '')) return;
    const cached = deps.workflows.get(key);
    await collectRevisions(deps, key, cached?.metadata.uid);
    const workflow = cached && (await deps.wholeWorkflow(cached));
    if (workflow !== undefined && workflow.metadata.deletionTimestamp === undefined) await judge(deps, workflow);
  };
}

async function judge(deps: WorkflowDeps, workflow: Workflow): Promise<void> {
  const facts = await observe(deps, workflow);
  const { status, create, accepted } = decideWorkflow(facts, deps.clock.now());
  const outcome = create === undefined ? 'stored' : await store(deps, workflow, facts.specHash);
  if (outcome === 'stored') {
    await report(deps, workflow, status);
    return accepted ? collectReplaced(deps, workflow, replacedContents(facts)) : undefined;
  }
  const now = deps.clock.now();
  await report(deps, workflow, outcome === 'forbidden' ? withoutRights(facts, now) : withoutName(facts, now));
  // Rights are granted by objects that nobody here watches, and what has the name is none of ours.
  throw new WaitError(outcome === 'forbidden' ? 'NotATenant' : 'RevisionTaken', rightsAgainMs);
}

/** How long until a namespace without rights is tried again. */
const rightsAgainMs = 30_000;

async function report(deps: WorkflowDeps, workflow: Workflow, status: WorkflowStatus): Promise<void> {
  await writeStatus({ kube: deps.kube, resource: workflows, cache: deps.workflows }, workflow, status);
}

async function observe(deps: WorkflowDeps, workflow: Workflow): Promise<WorkflowFacts> {
  await deps.turns.enter(workflow.metadata.namespace ?? '');
  const specHash = canonicalHash(workflow.spec);
  // Each of these may take half of what a turn may, with the largest definition.
  await deps.turns.enter(workflow.metadata.namespace ?? '');
  const found = await problemsOf(deps, workflow);
  const ownName = revisionName(workflow, specHash);
  const isRival = ({ version, name }: StoredRevision) => version === workflow.spec.version && name !== ownName;
  const revisions = await revisionsOf(deps, workflow);
  return {
    workflow,
    specHash,
    revisionName: ownName,
    revisions,
    changed: await changesSince(deps, workflow, revisions.find(isRival)),
    problems: linesOf(found, 'error'),
    warnings: linesOf(found, 'warning'),
    forced: workflow.metadata.annotations?.[annotations.force] === 'true',
  };
}

/** The children that it names are those that are known now. */
async function problemsOf(deps: WorkflowDeps, { metadata, spec }: Workflow): Promise<readonly Problem[]> {
  const found = checkDefinition(spec);
  if (found.some(({ severity }) => severity === 'error')) return found;
  const user = ownerOf({ metadata });
  const place = { namespace: metadata.namespace ?? '', ...(user === undefined ? {} : { user }) };
  const find: FindSpec = async (nameOrUid) => {
    await deps.turns.enter(place.namespace);
    const child = cachedWorkflow(deps.workflows, { ...place, nameOrUid });
    return child && (await deps.wholeWorkflow(child))?.spec;
  };
  return [...found, ...(await checkChildren(spec, find))];
}

const linesOf = (problems: readonly Problem[], wanted: Problem['severity']): string[] =>
  problems.filter(({ severity }) => severity === wanted).map(({ path, message }) => `${path}: ${message}`);

/** Those whose content is what was stored: a revision that was made in advance under the name is none. */
async function revisionsOf(deps: WorkflowDeps, workflow: Workflow): Promise<StoredRevision[]> {
  const { namespace, uid } = workflow.metadata;
  const found: StoredRevision[] = [];
  for (const revision of deps.revisions.byIndex('workflowUid', `${namespace}/${uid}`)) {
    if (!isRevisionOf(workflow, revision)) continue;
    const stored = known.has(revision) ? known.get(revision) : await storedRevision(deps, revision);
    known.set(revision, stored);
    if (stored !== undefined) found.push(stored);
  }
  return found;
}

/** Which fields differ from what a revision holds; undefined where there is none. */
async function changesSince(
  { revisions, wholeRevision, turns }: WorkflowDeps,
  { metadata, spec }: Workflow,
  rival: StoredRevision | undefined,
): Promise<string | undefined> {
  const cached = rival && revisions.get(`${metadata.namespace}/${rival.name}`);
  const whole = cached && (await wholeRevision(cached));
  await turns.enter(metadata.namespace ?? '');
  return whole && changedFields(specOf(whole), spec);
}

/** By the very object of the cache: a content never changes, and is read and hashed once. */
const known = new WeakMap<ControllerRevision, StoredRevision | undefined>();

async function storedRevision(
  { wholeRevision, turns }: WorkflowDeps,
  revision: ControllerRevision,
): Promise<StoredRevision | undefined> {
  const whole = await wholeRevision(revision);
  await turns.enter(revision.metadata.namespace ?? '');
  if (whole === undefined || !holdsItsContent(whole)) return undefined;
  return {
    name: whole.metadata.name ?? '',
    version: specOf(whole).version,
    createdAt: registeredAt(whole),
    number: whole.revision,
  };
}

/** `foreign`: another object has the name, which somebody must have made in advance. */
async function store(
  deps: WorkflowDeps,
  workflow: Workflow,
  specHash: string,
): Promise<'stored' | 'forbidden' | 'foreign'> {
  const wanted = revisionOf(workflow, specHash);
  try {
    const created = await createUnlessExists(deps.kube, controllerRevisions, wanted);
    if (created !== undefined) deps.revisions.remember(created);
    const there =
      created ?? (await findObject(deps.kube, controllerRevisions, { ...wanted.metadata, name: nameOf(wanted) }));
    await deps.turns.enter(workflow.metadata.namespace ?? '');
    if (there === undefined) throw new AppError('conflict', `revision ${nameOf(wanted)} was deleted meanwhile`);
    return isContentOf(workflow, there, workflow.spec.version) ? 'stored' : 'foreign';
  } catch (error) {
    // A full quota answers 403 as well; that one is tried again as any other failure.
    if (isForbidden(error) && error.serverMessage.includes('cannot create resource')) return 'forbidden';
    throw error;
  }
}

const nameOf = ({ metadata }: ControllerRevision): string => metadata.name ?? '';

import { lineOfProblem } from '../../crds/problem.ts';
import { annotations } from '../../crds/labels.ts';
import type { Clock } from '../../lib/clock.ts';
import { canonicalHash } from '../../lib/definition/canonical.ts';
import { changedFields } from '../../lib/definition/changed-fields.ts';
import type { Problem } from '../../lib/definition/check.ts';
import { AppError, WaitError } from '../../lib/errors.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  createUnlessExists,
  findObject,
  type KubeClient,
  type LastingRefusals,
  lacksRights,
  refusalsApartMs,
  type Resource,
} from '../../lib/kube/index.ts';
import {
  holdsItsContent,
  isContentOf,
  isRevisionOf,
  registeredAt,
  revisionName,
  revisionOf,
  type Versioned,
  versionOf,
} from '../../lib/registration/index.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { type CollectDeps, collectReplaced } from './collect-revisions.ts';
import {
  decideDefinition,
  type DefinitionFacts,
  type DefinitionStatus,
  replacedContents,
  type StoredRevision,
  withoutName,
  withoutRights,
} from './decide.ts';

/** The checks of one kind of definition. */
interface JudgeDeps<V extends Versioned> {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'delete' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly resource: Resource<V>;
  readonly cache: Pick<CacheReader<V>, 'remember'>;
  readonly revisions: Pick<CacheReader<ControllerRevision>, 'get' | 'remember'>;
  /** Revisions by the `namespace/uid` of their definition. */
  readonly revisionsOfUid: (key: string) => readonly ControllerRevision[];
  readonly wholeRevision: (revision: ControllerRevision) => Promise<ControllerRevision | undefined>;
  readonly collection: CollectDeps;
  /** Everything that is wrong with the definition, and what deserves a look. */
  readonly problemsOf: (definition: V) => Promise<readonly Problem[]>;
  /** Fields of the status that are of this kind alone. */
  readonly ownStatus?: (definition: V) => Partial<DefinitionStatus>;
  /** Refusals of our rights, by namespace. */
  readonly refusals: LastingRefusals;
  /** Gives the check of each definition a turn of the event loop of its own. */
  readonly turns: TurnGate;
}

/** Checks a definition, stores it as an immutable revision and says so in its status (design §4). */
export async function judge<V extends Versioned>(deps: JudgeDeps<V>, definition: V): Promise<void> {
  const facts = await observe(deps, definition);
  const { status, create, accepted } = decideDefinition(facts, deps.clock.now());
  const outcome = create === undefined ? 'stored' : await store(deps, definition, facts.specHash);
  if (outcome === 'stored') {
    await report(deps, definition, status);
    return accepted ? collectReplaced(deps.collection, definition, replacedContents(facts)) : undefined;
  }
  const { namespace = '' } = definition.metadata;
  if (outcome === 'forbidden' && !deps.refusals.isLasting(namespace)) throw new WaitError('NotATenant', confirmMs);
  const now = deps.clock.now();
  await report(deps, definition, outcome === 'forbidden' ? withoutRights(facts, now) : withoutName(facts, now));
  // No informer here watches the objects that grant rights, and the object of that name is not ours.
  throw new WaitError(outcome === 'forbidden' ? 'NotATenant' : 'RevisionTaken', rightsAgainMs);
}

/** How long until a first refusal is tried again: it may be the server's, which has just begun (ADR 0142). */
const confirmMs = refusalsApartMs;
/** How long until a namespace without rights is tried again. */
const rightsAgainMs = 30_000;

async function report<V extends Versioned>(deps: JudgeDeps<V>, definition: V, status: DefinitionStatus): Promise<void> {
  await writeStatus(deps, definition, { ...status, ...deps.ownStatus?.(definition) });
}

async function observe<V extends Versioned>(deps: JudgeDeps<V>, definition: V): Promise<DefinitionFacts> {
  await deps.turns.enter(definition.metadata.namespace ?? '');
  const found = await deps.problemsOf(definition);
  const problems = linesOf(found, 'error');
  const revisions = await revisionsOf(deps, definition);
  return {
    definition,
    revisions,
    problems,
    warnings: linesOf(found, 'warning'),
    forced: definition.metadata.annotations?.[annotations.force] === 'true',
    ...(problems.length > 0 ? unnamed : await contentOf(deps, definition, revisions)),
  };
}

/** A definition with mistakes is stored under no name. Its free JSON may be nested too deep to be hashed. */
const unnamed = { specHash: '', revisionName: '' } as const;

/** The name of the content of a definition without mistakes, and its difference from what its version holds. */
async function contentOf<V extends Versioned>(
  deps: JudgeDeps<V>,
  definition: V,
  revisions: readonly StoredRevision[],
): Promise<Pick<DefinitionFacts, 'specHash' | 'revisionName' | 'changed'>> {
  // To check and to hash the largest definition may each take half of what a turn may.
  await deps.turns.enter(definition.metadata.namespace ?? '');
  const specHash = canonicalHash(definition.spec);
  const ownName = revisionName(definition, specHash);
  const isRival = ({ version, name }: StoredRevision) => version === definition.spec.version && name !== ownName;
  return { specHash, revisionName: ownName, changed: await changesSince(deps, definition, revisions.find(isRival)) };
}

const linesOf = (problems: readonly Problem[], wanted: Problem['severity']): string[] =>
  problems.filter(({ severity }) => severity === wanted).map(lineOfProblem);

/** Those whose content is what was stored: a revision that was made in advance under the name is none. */
async function revisionsOf<V extends Versioned>(deps: JudgeDeps<V>, definition: V): Promise<StoredRevision[]> {
  const { namespace, uid } = definition.metadata;
  const found: StoredRevision[] = [];
  for (const revision of deps.revisionsOfUid(`${namespace}/${uid}`)) {
    if (!isRevisionOf(definition, revision)) continue;
    const stored = known.has(revision) ? known.get(revision) : await storedRevision(deps, revision);
    known.set(revision, stored);
    if (stored !== undefined) found.push(stored);
  }
  return found;
}

/** Which fields differ from what a revision holds; undefined where there is none. */
async function changesSince<V extends Versioned>(
  { revisions, wholeRevision, turns }: JudgeDeps<V>,
  { metadata, spec }: V,
  rival: StoredRevision | undefined,
): Promise<string | undefined> {
  const cached = rival && revisions.get(`${metadata.namespace}/${rival.name}`);
  const whole = cached && (await wholeRevision(cached));
  await turns.enter(metadata.namespace ?? '');
  return whole && changedFields((whole.data as { readonly spec: object }).spec, spec);
}

/** By the very object of the cache: a content never changes, and is read and hashed once. */
const known = new WeakMap<ControllerRevision, StoredRevision | undefined>();

async function storedRevision<V extends Versioned>(
  { wholeRevision, turns }: JudgeDeps<V>,
  revision: ControllerRevision,
): Promise<StoredRevision | undefined> {
  const whole = await wholeRevision(revision);
  await turns.enter(revision.metadata.namespace ?? '');
  if (whole === undefined || !holdsItsContent(whole)) return undefined;
  return {
    name: whole.metadata.name ?? '',
    version: versionOf(whole),
    createdAt: registeredAt(whole),
    number: whole.revision,
  };
}

/** `foreign`: another object has the name, which a user must have made in advance. */
async function store<V extends Versioned>(
  deps: JudgeDeps<V>,
  definition: V,
  specHash: string,
): Promise<'stored' | 'forbidden' | 'foreign'> {
  const wanted = revisionOf(definition, specHash);
  try {
    const created = await createUnlessExists(deps.kube, controllerRevisions, wanted);
    deps.refusals.forget(wanted.metadata.namespace ?? '');
    if (created !== undefined) deps.revisions.remember(created);
    const there =
      created ?? (await findObject(deps.kube, controllerRevisions, { ...wanted.metadata, name: nameOf(wanted) }));
    await deps.turns.enter(definition.metadata.namespace ?? '');
    if (there === undefined) throw new AppError('conflict', `revision ${nameOf(wanted)} was deleted meanwhile`);
    return isContentOf(definition, there, definition.spec.version) ? 'stored' : 'foreign';
  } catch (error) {
    // A full quota answers 403 as well; that one is tried again as any other failure.
    if (lacksRights(error)) return 'forbidden';
    throw error;
  }
}

const nameOf = ({ metadata }: ControllerRevision): string => metadata.name ?? '';

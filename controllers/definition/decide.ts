import { conditionTypes, type WorkflowReason } from '../../crds/conditions.ts';
import { limits } from '../../crds/limits.ts';
import type { AgentStatus } from '../../crds/schema/agent.ts';
import type { WorkflowStatus } from '../../crds/schema/workflow.ts';
import type { Versioned } from '../../lib/registration/index.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import { problemText } from '../runtime/problem-text.ts';
import { shownWarnings, warningsText } from '../runtime/warnings.ts';

/** A stored version of a definition: an immutable ControllerRevision (design §4). */
export interface StoredRevision {
  readonly name: string;
  readonly version: string;
  readonly createdAt: string;
  /** Higher for what was registered later, also within the same second. */
  readonly number: number;
}

/** The status of a workflow or of an agent: they say the same. */
export type DefinitionStatus = WorkflowStatus & AgentStatus;

export interface DefinitionFacts {
  readonly definition: Versioned;
  /** SHA-256 of the canonical spec. Empty, as the name is, for a definition with mistakes. */
  readonly specHash: string;
  readonly revisionName: string;
  readonly revisions: readonly StoredRevision[];
  /** Mistakes of the definition, one line each. */
  readonly problems: readonly string[];
  /** Legal fields that are probably mistakes, one line each. */
  readonly warnings: readonly string[];
  readonly forced: boolean;
  /** Which fields differ from what is stored under the version, where that is other content. */
  readonly changed?: string;
}

interface DefinitionDecision {
  readonly status: DefinitionStatus;
  /** Whether the definition counts from now on. */
  readonly accepted: boolean;
  /** The revision to store before the status is written; absent: it is there. */
  readonly create?: string;
}

/** Problems that the condition's message names; the rest are counted. */
const problemsShown = 5;

/** Whether the definition is accepted, and which revision holds it (design §4). Pure. */
export function decideDefinition(facts: DefinitionFacts, now: number): DefinitionDecision {
  const { definition, revisions, revisionName } = facts;
  const stored = revisions.find(({ name }) => name === revisionName);
  const rival = revisions.find(({ version, name }) => version === definition.spec.version && name !== revisionName);
  if (facts.problems.length > 0)
    return refused(facts, now, 'InvalidDefinition', problemText(facts.problems, problemsShown));
  if (rival !== undefined && stored === undefined && !facts.forced) {
    const changed = facts.changed === undefined ? '' : ` (${facts.changed})`;
    const message = `version ${rival.version} is registered with other content${changed}; raise spec.version, or set the annotation windlass.dev/force`;
    return refused(facts, now, 'VersionConflict', message);
  }
  const message = `version ${definition.spec.version} is registered${warningsText(facts.warnings)}`;
  return {
    status: statusOf(facts, now, { reason: 'Accepted', message, accepted: true }),
    accepted: true,
    ...(stored === undefined ? { create: revisionName } : {}),
  };
}

/** The status where the API server lets us store nothing beside it: each tenant grants that right itself. */
export function withoutRights(facts: DefinitionFacts, now: number): DefinitionStatus {
  const { namespace } = facts.definition.metadata;
  const message = `the controllers have no rights in namespace ${namespace}; make it a tenant: windlass tenant create NAME -n ${namespace}`;
  return refused(facts, now, 'NotATenant', message).status;
}

/** The status where another object has the name under which the content would be stored. */
export function withoutName(facts: DefinitionFacts, now: number): DefinitionStatus {
  const message = `ControllerRevision ${facts.revisionName} has another owner; delete it`;
  return refused(facts, now, 'RevisionTaken', message).status;
}

function refused(facts: DefinitionFacts, now: number, reason: WorkflowReason, message: string): DefinitionDecision {
  return { status: statusOf(facts, now, { reason, message, accepted: false }), accepted: false };
}

interface Verdict {
  readonly reason: WorkflowReason;
  readonly message: string;
  readonly accepted: boolean;
}

function statusOf(facts: DefinitionFacts, now: number, { reason, message, accepted }: Verdict): DefinitionStatus {
  const { definition, revisionName } = facts;
  const { warnings: _before, ...known } = definition.status ?? {};
  const warnings = shownWarnings(facts.warnings);
  const time = new Date(now).toISOString();
  const verdict = { type: conditionTypes.ready, status: accepted ? 'True' : 'False', reason, message } as const;
  return {
    ...known,
    observedGeneration: definition.metadata.generation ?? 0,
    conditions: [nextCondition(definition, verdict, now)],
    ...(accepted ? { revision: revisionName } : {}),
    versions: versionsOf(facts, accepted, time),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Contents of versions that force replaced, by name; known once the definition has been accepted. */
export function replacedContents({ definition, revisions, revisionName }: DefinitionFacts): string[] {
  const newest = new Map(byAge(revisions).map((revision) => [revision.version, revision.name]));
  newest.set(definition.spec.version, revisionName);
  return revisions.filter(({ version, name }) => newest.get(version) !== name).map(({ name }) => name);
}

const byAge = (revisions: readonly StoredRevision[]): StoredRevision[] =>
  revisions.toSorted((a, b) => a.number - b.number || a.createdAt.localeCompare(b.createdAt));

/** Newest first, as many as fit; of a version that was replaced by force only the newest content is listed. */
function versionsOf(
  facts: DefinitionFacts,
  accepted: boolean,
  time: string,
): NonNullable<DefinitionStatus['versions']> {
  const { definition, revisions, revisionName } = facts;
  const rows = byAge(revisions).map(({ name, version, createdAt }) => ({
    version,
    revision: name,
    registered_at: createdAt,
  }));
  if (accepted && !revisions.some(({ name }) => name === revisionName)) {
    rows.push({ version: definition.spec.version, revision: revisionName, registered_at: time });
  }
  const newest = new Map(rows.map((row) => [row.version, row]));
  const own = rows.find(({ revision }) => accepted && revision === revisionName);
  if (own !== undefined) newest.set(own.version, own);
  const current = rows.filter((row) => newest.get(row.version) === row);
  return current.slice(-limits.workflowVersionsListed).toReversed();
}

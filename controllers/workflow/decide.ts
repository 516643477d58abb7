import { conditionTypes, type WorkflowReason } from '../../crds/conditions.ts';
import { limits } from '../../crds/limits.ts';
import type { Workflow, WorkflowStatus } from '../../crds/schema/workflow.ts';
import { cutText } from '../../lib/cut-text.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import { problemText } from '../runtime/problem-text.ts';

/** A stored version of the workflow: an immutable ControllerRevision (design §4). */
export interface StoredRevision {
  readonly name: string;
  readonly version: string;
  readonly createdAt: string;
  /** Higher for what was registered later, also within the same second. */
  readonly number: number;
}

export interface WorkflowFacts {
  readonly workflow: Workflow;
  /** SHA-256 of the canonical spec. */
  readonly specHash: string;
  readonly revisionName: string;
  readonly revisions: readonly StoredRevision[];
  /** What is wrong with the definition, one line each; empty: nothing. */
  readonly problems: readonly string[];
  /** What is legal and hardly ever meant, one line each. */
  readonly warnings: readonly string[];
  readonly forced: boolean;
  /** Which fields differ from what is stored under the version, where that is other content. */
  readonly changed?: string;
}

interface WorkflowDecision {
  readonly status: WorkflowStatus;
  /** Whether the definition counts from now on. */
  readonly accepted: boolean;
  /** The revision to store before the status is written; absent: it is there. */
  readonly create?: string;
}

/** Problems that the condition's message names; the rest are counted. */
const problemsShown = 5;

/** Whether the definition is accepted, and which revision holds it (design §4). Pure. */
export function decideWorkflow(facts: WorkflowFacts, now: number): WorkflowDecision {
  const { workflow, revisions, revisionName } = facts;
  const stored = revisions.find(({ name }) => name === revisionName);
  const rival = revisions.find(({ version, name }) => version === workflow.spec.version && name !== revisionName);
  if (facts.problems.length > 0)
    return refused(facts, now, 'InvalidDefinition', problemText(facts.problems, problemsShown));
  if (rival !== undefined && stored === undefined && !facts.forced) {
    const changed = facts.changed === undefined ? '' : ` (${facts.changed})`;
    const message = `version ${rival.version} is registered with other content${changed}; raise spec.version, or set the annotation windlass.dev/force`;
    return refused(facts, now, 'VersionConflict', message);
  }
  const message = `version ${workflow.spec.version} is registered${warningsText(facts.warnings)}`;
  return {
    status: statusOf(facts, now, { reason: 'Accepted', message, accepted: true }),
    accepted: true,
    ...(stored === undefined ? { create: revisionName } : {}),
  };
}

function warningsText({ length }: readonly string[]): string {
  return length === 0 ? '' : `; status.warnings has ${length} warning${length === 1 ? '' : 's'}`;
}

/** The status where the API server lets us store nothing beside the workflow: each tenant grants that right itself. */
export function withoutRights(facts: WorkflowFacts, now: number): WorkflowStatus {
  const { namespace } = facts.workflow.metadata;
  const message = `the controllers have no rights in namespace ${namespace}; make it a tenant: windlass tenant create NAME -n ${namespace}`;
  return refused(facts, now, 'NotATenant', message).status;
}

/** The status where another object has the name under which the content would be stored. */
export function withoutName(facts: WorkflowFacts, now: number): WorkflowStatus {
  const message = `ControllerRevision ${facts.revisionName} was made by somebody else; delete it`;
  return refused(facts, now, 'RevisionTaken', message).status;
}

function refused(facts: WorkflowFacts, now: number, reason: WorkflowReason, message: string): WorkflowDecision {
  return { status: statusOf(facts, now, { reason, message, accepted: false }), accepted: false };
}

interface Verdict {
  readonly reason: WorkflowReason;
  readonly message: string;
  readonly accepted: boolean;
}

function statusOf(facts: WorkflowFacts, now: number, { reason, message, accepted }: Verdict): WorkflowStatus {
  const { workflow, revisionName } = facts;
  const { warnings: _before, ...known } = workflow.status ?? {};
  const warnings = facts.warnings.slice(0, limits.warnings).map((text) => cutText(text, limits.warningLength));
  const time = new Date(now).toISOString();
  const verdict = { type: conditionTypes.ready, status: accepted ? 'True' : 'False', reason, message } as const;
  return {
    ...known,
    observedGeneration: workflow.metadata.generation ?? 0,
    conditions: [nextCondition(workflow, verdict, now)],
    ...(accepted ? { revision: revisionName } : {}),
    versions: versionsOf(facts, accepted, time),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** What versions held before force replaced it, by name; known once the definition has been accepted. */
export function replacedContents({ workflow, revisions, revisionName }: WorkflowFacts): string[] {
  const newest = new Map(byAge(revisions).map((revision) => [revision.version, revision.name]));
  newest.set(workflow.spec.version, revisionName);
  return revisions.filter(({ version, name }) => newest.get(version) !== name).map(({ name }) => name);
}

const byAge = (revisions: readonly StoredRevision[]): StoredRevision[] =>
  revisions.toSorted((a, b) => a.number - b.number || a.createdAt.localeCompare(b.createdAt));

/** Newest first, as many as fit; of a version that was replaced by force only the newest content is listed. */
function versionsOf(facts: WorkflowFacts, accepted: boolean, time: string): NonNullable<WorkflowStatus['versions']> {
  const { workflow, revisions, revisionName } = facts;
  const rows = byAge(revisions).map(({ name, version, createdAt }) => ({
    version,
    revision: name,
    registered_at: createdAt,
  }));
  if (accepted && !revisions.some(({ name }) => name === revisionName)) {
    rows.push({ version: workflow.spec.version, revision: revisionName, registered_at: time });
  }
  const newest = new Map(rows.map((row) => [row.version, row]));
  const own = rows.find(({ revision }) => accepted && revision === revisionName);
  if (own !== undefined) newest.set(own.version, own);
  const current = rows.filter((row) => newest.get(row.version) === row);
  return current.slice(-limits.workflowVersionsListed).toReversed();
}

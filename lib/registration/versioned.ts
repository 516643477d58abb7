import { conditionTypes } from '../../crds/conditions.ts';
import { labels } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';

/** An object of a kind whose earlier contents are kept as versions (design §4). */
export type Versioned = Workflow | Agent;
export type VersionedKind = Versioned['kind'];

/** Labels of a revision that name its object, by the kind of that. */
export const revisionLabels: Readonly<Record<VersionedKind, { readonly name: string; readonly uid: string }>> = {
  Workflow: { name: labels.workflow, uid: labels.workflowUid },
  Agent: { name: labels.agent, uid: labels.agentUid },
};

/** How a sentence names a kind. */
export const nounOf = ({ kind }: Pick<Versioned, 'kind'>): string => kind.toLowerCase();

/**
 * Whether the content of an object is fixed under its version: it was accepted, or nothing has judged it yet. A content
 * that was judged and never stored may be corrected under its version. The admission policy of versions has the same rule.
 */
export function wasAccepted({ metadata, spec, status }: Versioned): boolean {
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation) return true;
  const isRefused = status.conditions?.some((row) => row.type === conditionTypes.ready && row.status === 'False');
  return isRefused !== true || status.versions?.some(({ version }) => version === spec.version) === true;
}

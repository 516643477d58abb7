import { annotations } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { byName, type WorkflowScope, scopeOf, scopes } from '../../../lib/workflow-lookup/index.ts';
import { isObjectLabel, keptLabels, workflowName } from '../../../lib/manifest/index.ts';
import { createLoopTurns } from '../../../lib/loop-turns.ts';
import { ownMember } from '../../../lib/own-member.ts';
import type { Searches } from '../../../lib/word-search.ts';
import { type Cursor, createListCursor, type Page, type PageOptions, pageOf } from '../../../lib/http/paging.ts';

/** The place of a workflow in a list. A caller sees at most one of a name in each scope. */
interface ListKey {
  readonly name: string;
  readonly scope: WorkflowScope;
}

interface ListQuery extends PageOptions<ListKey> {
  readonly searches: Searches;
  /** For whom it is searched. */
  readonly tenant: string;
  /** Pairs that all have to be among a workflow's labels. */
  readonly labels: readonly (readonly [key: string, value: string])[];
  /** Words that the name and the description hold together; of a description that is too large to be kept, none. */
  readonly words?: string | undefined;
}

export async function listPage<W extends Workflow>(
  all: readonly W[],
  { searches, tenant, labels, words, ...page }: ListQuery,
): Promise<Page<W, ListKey>> {
  const hasLabels = labelFilter(labels);
  const spend = createLoopTurns(keptPerTurn);
  const labelled: W[] = [];
  for (const workflow of all) {
    if (hasLabels(workflow.metadata)) labelled.push(workflow);
    // Kept labels may take 32 KiB of each workflow.
    if (keepsMetadata(workflow)) await spend(1);
  }
  return pageOf(await searches.rowsHolding({ tenant, words }, labelled, textOf), { keyOf, compare: byName }, page);
}

const textOf = ({ metadata, spec }: Workflow): string => `${workflowName(metadata)} ${spec.description ?? ''}`;

const keptPerTurn = 10;

/** Whether labels or annotations of the manifest are in an annotation, which has to be parsed to show them. */
export const keepsMetadata = ({ metadata }: Workflow): boolean =>
  metadata.annotations?.[annotations.given] !== undefined;

/** Labels that Kubernetes refuses are read from where the object keeps them, once (requirements AMB-178). */
function labelFilter(labels: ListQuery['labels']): (metadata: Workflow['metadata']) => boolean {
  const refused = labels.filter(([key, value]) => !isObjectLabel(key, value));
  const others = labels.filter(([key, value]) => isObjectLabel(key, value));
  const refusedKeys = refused.map(([key]) => key);
  return (metadata) => {
    const { labels: own } = metadata;
    if (!others.every(([key, value]) => ownMember(own, key) === value)) return false;
    const kept = keptLabels(metadata, refusedKeys);
    return refused.every(([key, value]) => (ownMember(own, key) ?? ownMember(kept, key)) === value);
  };
}

const keyOf = (workflow: Workflow): ListKey => ({
  name: workflowName(workflow.metadata),
  scope: scopeOf(workflow),
});

/** `key=value` pairs with commas between them, in the form that the contract has checked. */
export function parseLabels(text: string | undefined): ListQuery['labels'] {
  if (text === undefined) return [];
  return text.split(',').map((pair): [string, string] => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

export const listCursor: Cursor<ListKey> = createListCursor(
  'workflows',
  ({ name, scope }) => `${scope}/${name}`,
  (text) => {
    const [scope, name = ''] = text.split('/', 2);
    const known = scopes.find((candidate) => candidate === scope);
    return known && { name, scope: known };
  },
);

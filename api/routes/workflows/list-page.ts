import type { Workflow } from '../../../crds/schema/workflow.ts';
import { byName, type Scope, scopeOf, scopes } from '../../../lib/catalogue/index.ts';
import { givenMetadata, isObjectLabel, workflowName } from '../../../lib/manifest/index.ts';
import { ownMember } from '../../../lib/own-member.ts';
import {
  type Cursor,
  createCursor,
  holdsWords,
  type Page,
  type PageOptions,
  pageOf,
} from '../../../lib/http/paging.ts';

/** The place of a workflow in a list. A caller sees at most one of a name in each scope. */
interface ListKey {
  readonly name: string;
  readonly scope: Scope;
}

interface ListQuery extends PageOptions<ListKey> {
  /** Pairs that all have to be among a workflow's labels. */
  readonly labels: readonly (readonly [key: string, value: string])[];
  /** Words that the name and the description hold together; of a description that is too large to be kept, none. */
  readonly words?: string | undefined;
}

export function listPage<W extends Workflow>(
  all: readonly W[],
  { labels, words, ...page }: ListQuery,
): Page<W, ListKey> {
  const wanted = all.filter(
    (workflow) =>
      labels.every((pair) => hasLabel(workflow, pair)) &&
      holdsWords(`${workflowName(workflow.metadata)} ${workflow.spec.description ?? ''}`, words),
  );
  return pageOf(wanted, { keyOf, compare: byName }, page);
}

/** A label that Kubernetes refuses is read from where the object keeps it (requirements AMB-178). */
function hasLabel({ metadata }: Workflow, [key, value]: ListQuery['labels'][number]): boolean {
  return ownMember(isObjectLabel(key, value) ? metadata.labels : givenMetadata(metadata).labels, key) === value;
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

export const listCursor: Cursor<ListKey> = createCursor(
  ({ name, scope }) => `${scope}/${name}`,
  (text) => {
    const [scope, name = ''] = text.split('/', 2);
    const known = scopes.find((candidate) => candidate === scope);
    return known && { name, scope: known };
  },
);

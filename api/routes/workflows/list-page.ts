import { limits } from '../../../crds/limits.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { type Scope, scopeOf, scopes } from '../../../lib/catalogue/index.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { workflowName } from '../../../lib/manifest/index.ts';

/** Where a workflow stands in a list. A caller sees at most one of a name in each scope. */
export interface ListKey {
  readonly name: string;
  readonly scope: Scope;
}

export interface PageQuery {
  /** Pairs that all have to be among a workflow's labels. */
  readonly labels: readonly (readonly [key: string, value: string])[];
  readonly limit: number;
  /** The last workflow of the page before. */
  readonly after: ListKey | undefined;
}

export interface Page {
  readonly workflows: readonly Workflow[];
  /** Undefined on the last page. */
  readonly next: ListKey | undefined;
}

/** Workflows by name, those of a narrower scope first. What comes or goes between two pages moves nothing else. */
export function pageOf(all: readonly Workflow[], { labels, limit, after }: PageQuery): Page {
  const size = Math.min(limit, limits.pageSizeMax);
  const found = all
    .filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value))
    .map((workflow) => ({ workflow, key: keyOf(workflow) }))
    .filter(({ key }) => after === undefined || compare(key, after) > 0)
    .toSorted((a, b) => compare(a.key, b.key));
  const rows = found.slice(0, size);
  return {
    workflows: rows.map(({ workflow }) => workflow),
    next: found.length > size ? rows.at(-1)?.key : undefined,
  };
}

const keyOf = (workflow: Workflow): ListKey => ({
  name: workflowName(workflow.metadata),
  scope: scopeOf(workflow),
});

function compare(a: ListKey, b: ListKey): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return scopes.indexOf(a.scope) - scopes.indexOf(b.scope);
}

/** `key=value` pairs with commas between them, in the form that the contract has checked. */
export function parseLabels(text: string | undefined): PageQuery['labels'] {
  if (text === undefined) return [];
  return text.split(',').map((pair): [string, string] => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

/** The place in a list as text that clients hand back. */
export function encodeCursor({ name, scope }: ListKey): string {
  return Buffer.from(`${scope}/${name}`).toString('base64url');
}

/** @throws HttpError 400 for what `encodeCursor` has not made. */
export function decodeCursor(cursor: string | undefined): ListKey | undefined {
  if (cursor === undefined) return undefined;
  const [scope, name = ''] = Buffer.from(cursor, 'base64url').toString().split('/', 2);
  const known = scopes.find((candidate) => candidate === scope);
  const key = known && { name, scope: known };
  if (key !== undefined && encodeCursor(key) === cursor) return key;
  const details = [{ path: 'query.cursor', message: 'is no cursor of this list: give next_cursor as it came' }];
  throw new HttpError({ code: 'invalid', message: 'the cursor is not valid', details });
}

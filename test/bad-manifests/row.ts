import { fullWorkflow } from './full-workflow.ts';

/**
 * The check that refuses a bad manifest first. `schema`, `cel` and `policy` are the API server itself, with Windlass
 * down; `controller` is the check that the controller, the command line and the API share.
 */
type Refuser = 'schema' | 'cel' | 'policy' | 'controller';

/** A change of the full workflow: dotted path from its root, and the new value; undefined removes the field. */
export type Edit = readonly [path: string, value: unknown];

/** One thing that must be refused, and what the refusal says. */
export interface BadManifest {
  readonly name: string;
  readonly requirements: readonly string[];
  readonly refusedBy: Refuser;
  readonly edits: readonly Edit[];
  /** Where our own check finds it. */
  readonly path: string;
  readonly rule: string;
  /** Text that the API server's answer contains; map keys in brackets are written with dots. */
  readonly server: readonly string[];
}

/** The API server's message on a broken keyword of the schema. */
const schemaTexts: Readonly<Record<string, string>> = {
  required: 'Required value',
  unknown_field: 'unknown field',
  enum: 'Unsupported value',
  type: 'must be of type',
  pattern: 'should match',
  format: 'must be of type',
  minimum: 'should be greater than or equal to',
  maximum: 'should be less than or equal to',
  minLength: 'should be at least',
  maxLength: 'Too long',
  minItems: 'should have at least',
  maxItems: 'must have at most',
  minProperties: 'should have at least',
  maxProperties: 'must have at most',
  duplicate: 'Duplicate value',
};

/** A manifest that the schema refuses: our path and the server's are the same. */
export const bySchema = (
  ids: string,
  name: string,
  edits: readonly Edit[],
  found: readonly [string, string],
): BadManifest => ({
  name,
  requirements: ids.split(' '),
  refusedBy: 'schema',
  edits,
  path: found[0],
  rule: found[1],
  server: [found[0], schemaTexts[found[1]] ?? found[1]],
});

/** A manifest that a rule refuses: the third entry of `found` is what the server's message says, the fourth its path. */
export const byRule =
  (refusedBy: Exclude<Refuser, 'schema'>) =>
  (
    ids: string,
    name: string,
    edits: readonly Edit[],
    found: readonly [path: string, rule: string, says: string, serverPath?: string],
  ): BadManifest => ({
    name,
    requirements: ids.split(' '),
    refusedBy,
    edits,
    path: found[0],
    rule: found[1],
    server: [found[3] ?? found[0], found[2]],
  });

/** The full workflow with the edits of a row. */
export function badWorkflow({ edits }: Pick<BadManifest, 'edits'>): object {
  const workflow = fullWorkflow();
  for (const [path, value] of edits) applyEdit(workflow, path.split('.'), value);
  return workflow;
}

function applyEdit(root: object, keys: readonly string[], value: unknown): void {
  const last = keys.at(-1) ?? '';
  let at = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) {
    at[key] ??= {};
    at = at[key] as Record<string, unknown>;
  }
  if (value === undefined) delete at[last];
  else Object.defineProperty(at, last, { value, writable: true, enumerable: true, configurable: true });
}

import { pointerOf } from '../../crds/json-pointer.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { JsonPatchOperation, KubeObject } from '../../lib/kube/index.ts';
import { sameJson } from '../../lib/same-json.ts';

/**
 * The operations that turn `before` into `after`, guarded by the version that `after` was decided on, or undefined
 * when nothing changed. Send them with `jsonPatchStatus`; an object that has changed meanwhile answers 409.
 *
 * RFC 6902, not a merge patch: a merge patch cannot store a null, so a value `{"a": null}` on a Blackboard would
 * come back as `{}`. Lists that only grew are sent by their new items. Members that are undefined count as absent.
 */
export function statusPatch(
  object: KubeObject & { readonly status?: unknown },
  after: object,
): readonly JsonPatchOperation[] | undefined {
  const version = object.metadata.resourceVersion;
  if (version === undefined) throw new TypeError('a status patch needs the resourceVersion it was decided on');
  const operations: JsonPatchOperation[] = [];
  if (isJsonObject(object.status)) diff('/status', object.status, after, operations);
  else operations.push({ op: 'add', path: '/status', value: after });
  if (operations.length === 0) return undefined;
  return [{ op: 'replace', path: '/metadata/resourceVersion', value: version }, ...operations];
}

type Fields = Readonly<Record<string, unknown>>;

function diff(path: string, before: unknown, after: unknown, into: JsonPatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) diffLists(path, before, after, into);
  else if (isJsonObject(before) && isJsonObject(after)) diffFields(path, before, after, into);
  else into.push({ op: 'replace', path, value: after });
}

function diffFields(path: string, before: Fields, after: Fields, into: JsonPatchOperation[]): void {
  for (const [name, value] of Object.entries(before)) {
    if (value !== undefined && own(after, name) === undefined)
      into.push({ op: 'remove', path: path + pointerOf(name) });
  }
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) continue;
    const old = own(before, name);
    if (old === undefined) into.push({ op: 'add', path: path + pointerOf(name), value });
    else diff(path + pointerOf(name), old, value, into);
  }
}

/** A Blackboard may hold any JSON, also a member called `__proto__`. */
function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function diffLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  into: JsonPatchOperation[],
): void {
  const added = addedItems(before, after);
  if (added === undefined) into.push({ op: 'replace', path, value: after });
  else for (const item of added) into.push({ op: 'add', path: `${path}/-`, value: item });
}

/** The new items of a list that only grew; undefined where it changed otherwise. */
export const addedItems = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] | undefined =>
  before.length <= after.length && before.every((item, index) => sameJson(item, after[index]))
    ? after.slice(before.length)
    : undefined;

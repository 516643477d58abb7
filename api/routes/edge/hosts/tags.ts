import { limits } from '../../../../crds/limits.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';

/** AMB-099: (old ∪ add) \ remove; each once, in the order in which they came. @throws HttpError 400 for too many. */
export function changedTags(
  old: readonly string[],
  { add = [], remove = [] }: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
): string[] {
  const removed = new Set(remove);
  const tags = distinct([...old, ...add]).filter((tag) => !removed.has(tag));
  if (tags.length <= limits.edgeTags) return tags;
  throw invalidField('body.add', `leaves the host with ${tags.length} tags; at most ${limits.edgeTags} are allowed`);
}

/** Each tag once, in the order in which they came. */
export const distinct = (tags: readonly string[]): string[] => [...new Set(tags)];

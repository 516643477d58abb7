import { limits } from '../../../../crds/limits.ts';
import type { EdgeHostSpec } from '../../../../crds/schema/edge-host.ts';
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

/**
 * A host with tags and labels that the API server takes (`crds/rules/edge-rules.ts`).
 * @throws HttpError 400 for more characters than one host may have.
 */
export function withFewTexts(spec: EdgeHostSpec): EdgeHostSpec {
  const texts = [...(spec.tags ?? []), ...Object.entries(spec.labels ?? {}).map(([name, value]) => name + value)];
  const length = texts.reduce((sum, text) => sum + Array.from(text).length + limits.edgeTextCharge, 0);
  if (length <= limits.edgeTextsLength) return spec;
  throw invalidField(
    'body',
    `leaves the host with tags and labels of ${length} characters, where each counts as ${limits.edgeTextCharge} more; ` +
      `at most ${limits.edgeTextsLength} are allowed`,
  );
}

/** Each tag once, in the order in which they came. */
export const distinct = (tags: readonly string[]): string[] => [...new Set(tags)];

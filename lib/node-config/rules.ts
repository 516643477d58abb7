import { errorAt, type Place, type Problem } from '../../crds/problem.ts';

/** A problem at each item whose identity came before. */
export function repeated<T>(items: readonly T[], at: Place, field: string, identity: (item: T) => string): Problem[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const key = identity(item);
    const isRepeated = seen.has(key);
    seen.add(key);
    return isRepeated ? [errorAt([...at, index, field], 'repeated', 'is given twice; keep one')] : [];
  });
}

/** The message does not hold the address: an operator may have written a password into it. */
export function checkUrl(text: string, at: Place): Problem[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return [];
  return [errorAt(at, 'url', 'must be a URL with http or https, without user, query and fragment')];
}

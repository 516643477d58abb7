const slash = 47;

/** Slashes of a path, whether of a request or with parameters in braces. Called for each request: it allocates nothing. */
export function depthOf(path: string): number {
  let depth = 0;
  for (let index = 0; index < path.length; index++) if (path.charCodeAt(index) === slash) depth++;
  return depth;
}

/** 0 for a segment that is written out, 1 for a parameter: as text, paths of one depth sort by precedence. */
const rankOf = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? 1 : 0))
    .join('');

const nameless = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

/**
 * Paths of one depth, in the order in which OpenAPI prefers them (OpenAPI 3.1.1 §4.8.8.2): from the left, a segment that is
 * written out comes before a parameter. Throws for paths that differ in the names of parameters only.
 */
export function byPrecedence(paths: readonly string[]): readonly string[] {
  for (const alike of Map.groupBy(paths, nameless).values())
    if (alike.length > 1) throw new Error(`${alike.join(' and ')} differ in the names of parameters only`);
  return paths.toSorted((a, b) => rankOf(a).localeCompare(rankOf(b)));
}

/** A path or URL without the slashes at its end. The expression for it takes the square of slashes that are elsewhere. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

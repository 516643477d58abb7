import { HttpError } from './http-error.ts';
import type { HttpContext } from './request-scope.ts';

/** What stands at a path, as the router sees it. */
export interface PathLayer {
  readonly methods: readonly string[];
  readonly paramNames: readonly unknown[];
}

/** What no route has answered: 405 with the methods that there are, or 404. */
export function refuseUnmatched(ctx: HttpContext): never {
  const layers = narrowest(ctx.matched ?? []);
  if (layers.length === 0) throw new HttpError({ code: 'not_found', message: 'there is nothing at this path' });
  throw methodNotAllowed(layers);
}

/**
 * A path without parameters means itself, whatever the method: DELETE of `/workflows/register` deletes no workflow of
 * that name. Throws 405 unless `parameters` is the number of those in the narrowest path that matches.
 */
export function requireNarrowest(ctx: HttpContext, parameters: number): void {
  const layers = narrowest(ctx.matched ?? []);
  if (layers.some(({ paramNames }) => paramNames.length < parameters)) throw methodNotAllowed(layers);
}

function narrowest(layers: readonly PathLayer[]): readonly PathLayer[] {
  const least = Math.min(...layers.map(({ paramNames }) => paramNames.length));
  return layers.filter(({ paramNames }) => paramNames.length === least);
}

function methodNotAllowed(layers: readonly PathLayer[]): HttpError {
  const methods = new Set(layers.flatMap((layer) => layer.methods));
  const headers = { Allow: [...methods].sort().join(', ') };
  return new HttpError({ code: 'invalid', status: 405, error: 'method_not_allowed', headers });
}

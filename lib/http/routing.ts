import type Koa from 'koa';
import { Router, type RouterContext } from '@koa/router';
import { HttpError } from './http-error.ts';
import type { RequestState } from './request-scope.ts';
import type { Route } from './route.ts';
import { type ServeDeps, serveRoute } from './serve-route.ts';

type RoutedContext = RouterContext<RequestState>;

const slash = 47;

/** Slashes of a path, whether of a request or with parameters in braces. Called for each request: it allocates nothing. */
function depthOf(path: string): number {
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
function byPrecedence(paths: readonly string[]): readonly string[] {
  for (const alike of Map.groupBy(paths, nameless).values())
    if (alike.length > 1) throw new Error(`${alike.join(' and ')} differ in the names of parameters only`);
  return paths.toSorted((a, b) => rankOf(a).localeCompare(rankOf(b)));
}

/**
 * Hands each request to its route. GET is asked for HEAD as well; Koa leaves the body out. Letters and a slash at the end count. A path
 * that is written out means itself, whatever the method: DELETE of `/workflows/register` deletes no workflow of that name.
 */
export function routing<Caller>(
  routes: readonly Route<Caller>[],
  deps: ServeDeps<Caller>,
): Koa.Middleware<RequestState> {
  // A router tries each of its patterns on each request, so paths of one depth have a router of their own (ADR 0107).
  const byDepth = Map.groupBy(routes, ({ contract }) => depthOf(contract.path));
  const routers = new Map([...byDepth].map(([depth, group]) => [depth, routerOf(group, deps)]));
  return (ctx, next) => {
    const { path } = ctx;
    const found = routers.get(depthOf(path))?.match(path, ctx.method);
    // The first layer of a path is the one that OpenAPI prefers. The router's own chain would run a later one that has the method.
    const layer = found?.path[0];
    if (layer === undefined) throw new HttpError({ code: 'not_found', message: 'there is nothing at this path' });
    const serve = layer.stack[0];
    if (serve === undefined || found?.pathAndMethod[0] !== layer) throw methodNotAllowed(layer.methods);
    const routed = ctx as RoutedContext;
    routed.params = layer.params(path, layer.captures(path));
    return serve(routed, next);
  };
}

/** One layer for each path, with all methods of it, in the order in which OpenAPI prefers paths. */
function routerOf<Caller>(routes: readonly Route<Caller>[], deps: ServeDeps<Caller>): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const byPath = Map.groupBy(routes, ({ contract }) => contract.path);
  for (const path of byPrecedence([...byPath.keys()])) {
    const byMethod = new Map(
      (byPath.get(path) ?? []).map((route) => [route.contract.method.toUpperCase(), serveRoute(route, deps)]),
    );
    const serve = (ctx: RoutedContext) => byMethod.get(ctx.method === 'HEAD' ? 'GET' : ctx.method)?.(ctx, ctx.params);
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [...byMethod.keys()], serve);
  }
  return router;
}

function methodNotAllowed(methods: readonly string[]): HttpError {
  const Allow = methods.toSorted().join(', ');
  const message = `this path takes ${Allow}`;
  return new HttpError({ code: 'invalid', status: 405, error: 'method_not_allowed', message, headers: { Allow } });
}

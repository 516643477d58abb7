import type Koa from 'koa';
import { HttpError } from './http-error.ts';
import { createPathIndex } from './path-index.ts';
import type { RequestState } from './request-scope.ts';
import type { Route } from './route.ts';
import { type ServeDeps, serveRoute } from './serve-route.ts';

/** Hands each request to its route. GET is asked for HEAD as well; Koa leaves the body out. */
export function routing<Caller>(
  routes: readonly Route<Caller>[],
  deps: ServeDeps<Caller>,
): Koa.Middleware<RequestState> {
  const index = createPathIndex(
    routes.map((route) => ({
      method: route.contract.method,
      path: route.contract.path,
      value: serveRoute(route, deps),
    })),
  );
  return async (ctx) => {
    const found = index.find(ctx.path);
    if (found === undefined) throw new HttpError({ code: 'not_found', message: 'there is nothing at this path' });
    const serve = found.byMethod.get(ctx.method === 'HEAD' ? 'GET' : ctx.method);
    if (serve === undefined) throw methodNotAllowed([...found.byMethod.keys()]);
    await serve(ctx, found.params);
  };
}

function methodNotAllowed(methods: readonly string[]): HttpError {
  const all = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const Allow = all.toSorted().join(', ');
  const message = `this path takes ${Allow}`;
  return new HttpError({ code: 'invalid', status: 405, error: 'method_not_allowed', message, headers: { Allow } });
}

import { HttpError } from './http-error.ts';
import type { HttpContext } from './request-scope.ts';

/** What no route has answered: 405 with the methods that there are, or 404. */
export function refuseUnmatched(ctx: HttpContext): never {
  const methods = new Set((ctx.matched ?? []).flatMap((layer) => layer.methods));
  if (methods.size === 0) throw new HttpError({ code: 'not_found', message: 'there is nothing at this path' });
  throw new HttpError({
    code: 'invalid',
    status: 405,
    error: 'method_not_allowed',
    headers: { Allow: [...methods].sort().join(', ') },
  });
}

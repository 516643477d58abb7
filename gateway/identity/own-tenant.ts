import type { IncomingHttpHeaders } from 'node:http';
import type { Route } from '../../lib/http/route.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import { bypassOperator, type Operator } from './operator.ts';
import type { Tenancy } from './tenancy.ts';

/**
 * The route with a body that may name a tenant in `tenant_id`: its caller's own. That is judged before the form of the body,
 * since each mismatch has its event (spec 3 §5.4).
 */
export const ofOwnTenant = (tenancy: Pick<Tenancy, 'assertOwn'>, route: Route<Operator>): Route<Operator> => ({
  ...route,
  assertBody: (caller: Operator, body) => tenancy.assertOwn(caller, tenantIn(body)),
});

/**
 * The route with a query that may name a tenant in `tenant`, in the same way. An administrator without a tenant may name any. The
 * first value of another tenant counts; several values are refused for their form.
 */
export const ofOwnTenantInQuery = (tenancy: Pick<Tenancy, 'assertOwn'>, route: Route<Operator>): Route<Operator> => ({
  ...route,
  async assertQuery(caller: Operator, query) {
    if (seesAll(caller)) return;
    for (const asked of query.getAll('tenant')) await tenancy.assertOwn(caller, asked);
  },
});

/**
 * The operator of a request, whose header may name the tenant of the token and no other: what is meant for another one is
 * never done in this one (spec 3 §5.4).
 */
export async function ofOwnTenantInHeader(
  { tenancy, take }: HeaderDeps,
  caller: Operator,
  headers: IncomingHttpHeaders,
): Promise<Operator> {
  const given = headers['x-tenant-id'];
  const named = Array.isArray(given) ? given.join() : given;
  if (named === undefined || named === '' || named === caller.tenant) return caller;
  await take(caller);
  await tenancy.assertOwn(caller, named);
  return caller;
}

export interface HeaderDeps {
  readonly tenancy: Pick<Tenancy, 'assertOwn'>;
  /** Counts a request that names another tenant, before its event is written. @throws AppError `limit_exceeded` */
  readonly take: (caller: Operator) => Promise<void>;
}

/** Whether the caller is an administrator without a tenant. Anonymous callers of the bypass are none (spec 3 §5.3). */
export const seesAll = (caller: Operator): boolean =>
  caller.tenant === undefined && caller.isAdmin && caller !== bypassOperator;

/** Anything but a text names no tenant, and is refused for its form. */
function tenantIn(body: unknown): string | undefined {
  const tenant = isJsonObject(body) ? body['tenant_id'] : undefined;
  return typeof tenant === 'string' ? tenant : undefined;
}

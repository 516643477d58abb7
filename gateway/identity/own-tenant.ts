import type { Route } from '../../lib/http/route.ts';
import { isJsonObject } from '../../lib/json-object.ts';
import type { Operator } from './operator.ts';
import type { Tenancy } from './tenancy.ts';

/**
 * The route with a body that may name a tenant in `tenant_id`: its caller's own. That is judged before the form of the body,
 * since each mismatch has its event (spec 3 §5.4).
 */
export const ofOwnTenant = (tenancy: Pick<Tenancy, 'assertOwn'>, route: Route<Operator>): Route<Operator> => ({
  ...route,
  assertBody: (caller: Operator, body) => tenancy.assertOwn(caller, tenantIn(body)),
});

/** Anything but a text names no tenant, and is refused for its form. */
function tenantIn(body: unknown): string | undefined {
  const tenant = isJsonObject(body) ? body['tenant_id'] : undefined;
  return typeof tenant === 'string' ? tenant : undefined;
}

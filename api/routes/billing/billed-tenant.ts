import { HttpError } from '../../../lib/http/http-error.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { Caller } from '../../../lib/identity/caller.ts';

/** The tenant a customer may be made of: one that is set up, since a delegating caller may name any slug. */
export function requireTenant(tenants: Pick<TenantDirectory, 'namespaceOf'>, { tenant }: Caller): string {
  if (tenants.namespaceOf(tenant) !== undefined) return tenant;
  throw new HttpError({
    code: 'not_found',
    message: 'the tenant is not set up; an operator makes it with windlass tenant create',
  });
}

import { invalidField } from '../../../lib/http/request-errors.ts';
import { json, type Reply, type RouteRequest } from '../../../lib/http/route.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { Customers, ProviderSessions } from '../../billing/payment-provider.ts';
import { addressProblem } from '../../billing/web-address.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { requireTenant } from './billed-tenant.ts';
import type { openPortal } from './contract.ts';

interface PortalDeps {
  readonly provider: { readonly customers: Customers; readonly sessions: ProviderSessions };
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  /** Where the portal may lead back to; empty: anywhere. */
  readonly returnOrigins: readonly string[];
}

export function handleOpenPortal({ provider, tenants, returnOrigins }: PortalDeps) {
  return async ({ caller, body }: RouteRequest<typeof openPortal, Caller>): Promise<Reply> => {
    const tenant = requireTenant(tenants, caller);
    const { return_url: returnUrl } = body;
    if (returnUrl !== undefined) requireAddress(returnUrl, returnOrigins);
    const customer = await provider.customers.ensure(tenant);
    return json({ url: await provider.sessions.portal({ customer, returnUrl }) });
  };
}

function requireAddress(text: string, origins: readonly string[]): void {
  const problem = addressProblem(text, origins);
  if (problem !== undefined) throw invalidField('body.return_url', problem);
}

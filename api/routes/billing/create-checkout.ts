import { HttpError } from '../../../lib/http/http-error.ts';
import { json, type Reply, type RouteRequest } from '../../../lib/http/route.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import { isOngoing } from '../../billing/current-subscription.ts';
import { readOrder } from '../../billing/order.ts';
import type { PaymentProvider } from '../../billing/payment-provider.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { requireTenant } from './billed-tenant.ts';
import type { createCheckout } from './contract.ts';

interface CheckoutDeps {
  readonly provider: PaymentProvider;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
}

/** Looks at everything that can be refused before the tenant becomes a customer. */
export function handleCreateCheckout({ provider, tenants }: CheckoutDeps) {
  const { catalogue, customers, records, sessions } = provider;
  return async ({ caller, body }: RouteRequest<typeof createCheckout, Caller>): Promise<Reply> => {
    const tenant = requireTenant(tenants, caller);
    const order = readOrder(body, await catalogue.tiers());
    const customer = await customers.ensure(tenant);
    if ((await records.subscriptions(customer)).some(isOngoing)) throw alreadySubscribed();
    return json({ url: await sessions.checkout({ tenant, customer, order }) });
  };
}

const alreadySubscribed = (): HttpError =>
  new HttpError({
    code: 'conflict',
    error: 'already_subscribed',
    message: 'the tenant has an active subscription; change it in the portal (POST /v1/billing/portal)',
  });

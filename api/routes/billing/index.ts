import type { Contract } from '../../../lib/http/contract.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { defineRoute, type Route } from '../../../lib/http/route.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { Billing } from '../../billing/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { createCheckout, listInvoices, listPrices, openPortal, readSubscription } from './contract.ts';
import { handleCreateCheckout } from './create-checkout.ts';
import { handleListInvoices } from './list-invoices.ts';
import { handleListPrices } from './list-prices.ts';
import { handleOpenPortal } from './open-portal.ts';
import { handleReadSubscription } from './read-subscription.ts';

export const contracts: readonly Contract[] = [listPrices, createCheckout, openPortal, readSubscription, listInvoices];

interface BillingRoutesDeps {
  readonly billing: Billing;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
}

export function createBillingRoutes({ billing, tenants }: BillingRoutesDeps): Route<Caller>[] {
  const { provider, returnOrigins } = billing;
  if (provider === undefined) return contracts.map(refusing);
  return [
    defineRoute(listPrices, handleListPrices(provider.catalogue)),
    defineRoute(createCheckout, handleCreateCheckout({ provider, tenants })),
    defineRoute(openPortal, handleOpenPortal({ provider, tenants, returnOrigins })),
    defineRoute(readSubscription, handleReadSubscription(provider)),
    defineRoute(listInvoices, handleListInvoices(provider)),
  ];
}

/** Any body will do: 501 comes before everything but the caller's identity (requirements AMB-053). */
function refusing(contract: Contract): Route<Caller> {
  const open: Contract = contract.body === undefined ? contract : { ...contract, body: { kind: 'bytes' } };
  return defineRoute<Contract, Caller>(open, async () => {
    throw new HttpError({
      code: 'unavailable',
      status: 501,
      error: 'payment_provider_not_configured',
      message: 'this installation has no payment provider; set PAYMENT_PROVIDER_SECRET_KEY to use billing',
    });
  });
}

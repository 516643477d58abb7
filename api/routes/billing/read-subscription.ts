import { json, type Reply } from '../../../lib/http/route.ts';
import { currentSubscription, isEntitling } from '../../billing/current-subscription.ts';
import type { PaidTier, TenantSubscription } from '../../billing/objects.ts';
import type { Catalogue, Customers, ProviderSubscription, Records } from '../../billing/payment-provider.ts';
import type { Caller } from '../../../lib/identity/caller.ts';

interface SubscriptionDeps {
  readonly catalogue: Pick<Catalogue, 'tierOf'>;
  readonly customers: Pick<Customers, 'find'>;
  readonly records: Pick<Records, 'subscriptions'>;
}

/** Makes no customer of a tenant that only looks. */
export function handleReadSubscription({ catalogue, customers, records }: SubscriptionDeps) {
  return async ({ caller }: { readonly caller: Caller }): Promise<Reply> => {
    const customer = await customers.find(caller.tenant);
    const current = customer === undefined ? undefined : currentSubscription(await records.subscriptions(customer));
    if (customer === undefined || current === undefined) return json(noSubscription);
    return json(present(current, customer, await tierOf(current, catalogue)));
  };
}

/** requirements AMB-053. */
const noSubscription: TenantSubscription = {
  tier: 'free',
  status: null,
  current_period_end: null,
  cancel_at_period_end: null,
  provider_customer_id: null,
};

function present(current: ProviderSubscription, customer: string, tier: PaidTier | undefined): TenantSubscription {
  return {
    tier: tier ?? 'free',
    status: current.status,
    current_period_end: current.currentPeriodEnd,
    cancel_at_period_end: current.cancelAtPeriodEnd,
    provider_customer_id: customer,
  };
}

/** The tier it entitles to. Base and seats may be of different products; only the base's has a tier. */
async function tierOf(
  current: ProviderSubscription,
  catalogue: Pick<Catalogue, 'tierOf'>,
): Promise<PaidTier | undefined> {
  if (!isEntitling(current)) return undefined;
  for (const id of current.productIds) {
    const tier = await catalogue.tierOf(id);
    if (tier !== undefined) return tier;
  }
  return undefined;
}

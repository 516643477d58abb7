import type { Stripe } from 'stripe';
import type { Clock } from '../../../lib/clock.ts';
import type { ProviderCall } from './calls.ts';
import { allPages, pageSize } from './pages.ts';

/** Metadata of a customer that say whose it is. */
const tenantKey = 'windlass_tenant';
const installationKey = 'windlass_installation';

/** The provider's search lags behind, by up to an hour when it has trouble. */
const searchLagSeconds = 3_600;
const mostPages = 10;

/** The tenant of a customer. */
export interface CustomerOwner {
  readonly tenant: string;
  readonly installation: string;
}

export const metadataOf = ({ tenant, installation }: CustomerOwner): Record<string, string> => ({
  [tenantKey]: tenant,
  [installationKey]: installation,
});

interface FindCustomerDeps {
  readonly call: ProviderCall;
  readonly clock: Clock;
}

/** The owner's customer: by the provider's search, or, as what is new is not to be found there yet, in a list of that. */
export async function findCustomer(
  { call, clock }: FindCustomerDeps,
  owner: CustomerOwner,
): Promise<string | undefined> {
  const { data } = await call('search customers', ({ customers }) =>
    customers.search({ query: queryFor(owner), limit: pageSize }),
  );
  const found = oldestOf(owner, data);
  if (found !== undefined) return found;
  const created = { gte: Math.floor(clock.now() / 1_000) - searchLagSeconds };
  const recent = await allPages(mostPages, (after) =>
    call('list customers', ({ customers }) => customers.list({ created, limit: pageSize, ...after })),
  );
  return oldestOf(owner, recent);
}

function queryFor(owner: CustomerOwner): string {
  return Object.entries(metadataOf(owner))
    .map(([key, value]) => `metadata['${key}']:'${value.replaceAll(/['\\]/g, '\\$&')}'`)
    .join(' AND ');
}

/** Where an operator made a second one by hand, every replica takes the same. */
function oldestOf(owner: CustomerOwner, customers: readonly Stripe.Customer[]): string | undefined {
  const wanted = Object.entries(metadataOf(owner));
  return customers
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata[key] === value))
    .toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))[0]?.id;
}

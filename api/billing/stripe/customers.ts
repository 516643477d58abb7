import type { Clock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import type { Customers } from '../payment-provider.ts';
import { remember } from '../remembered.ts';
import type { ProviderCall } from './calls.ts';
import { findCustomer, metadataOf, type CustomerOwner } from './find-customer.ts';

const knownMs = 10 * 60_000;
const unknownMs = 5_000;
const capacity = 10_000;
/** Customers of one tenant that were deleted by hand within a day. */
const mostDeleted = 5;

interface CustomersDeps {
  readonly call: ProviderCall;
  readonly clock: Clock;
}

/**
 * Two replicas that both find no customer create the same one. The idempotency key is made of the tenant's name alone.
 * The provider remembers it for a day, by when its search knows the customer.
 */
export function createCustomers(deps: CustomersDeps, installation: string): Customers {
  const { call, clock } = deps;
  const find = (tenant: string): Promise<string | undefined> => findCustomer(deps, { tenant, installation });
  const found = remember(clock, find, { ttlMs: (id) => (id === undefined ? unknownMs : knownMs), capacity });
  const ensured = remember(clock, ensure, { ttlMs: () => 0, capacity });

  async function ensure(tenant: string): Promise<string> {
    const owner = { tenant, installation };
    let id = (await found.get(tenant)) ?? (await create(call, owner, tenant));
    for (let deleted = 0; deleted < mostDeleted; deleted++) {
      if (await exists(call, id)) {
        found.set(tenant, id);
        return id;
      }
      found.forget(tenant);
      // The key of the deleted one would give the deleted one again.
      id = await create(call, owner, `${tenant}-after-${id}`);
    }
    throw new AppError('internal', `the customers of tenant ${tenant} are deleted as soon as they are created`);
  }

  return { find: (tenant) => found.get(tenant), ensure: (tenant) => ensured.get(tenant) };
}

/** The parameters must stay what they are: the provider refuses a known key with others. */
async function create(call: ProviderCall, owner: CustomerOwner, key: string): Promise<string> {
  const customer = { name: owner.tenant, metadata: metadataOf(owner) };
  const idempotencyKey = `windlass-customer-${owner.installation}-${key}`;
  const { id } = await call('create customer', ({ customers }) => customers.create(customer, { idempotencyKey }));
  return id;
}

async function exists(call: ProviderCall, id: string): Promise<boolean> {
  const customer = await call('read customer', ({ customers }) => customers.retrieve(id));
  return customer.deleted !== true;
}

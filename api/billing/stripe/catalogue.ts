import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { PaidTier } from '../objects.ts';
import type { Catalogue } from '../payment-provider.ts';
import { remember } from '../remembered.ts';
import { type ProviderCall, ProviderRefusal } from './calls.ts';
import { allPages, pageSize } from './pages.ts';
import { type TierEntries, tierEntries, tierOfProduct } from './tier-entries.ts';

/** Prices change by the month; a user who follows a link to them must not meet the old ones for long. */
const freshMs = 60_000;
/** A thousand products or prices; what lies beyond is not looked at. */
const mostPages = 10;

interface CatalogueDeps {
  readonly call: ProviderCall;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reads products and prices; mistakes in their metadata are logged once each time they change. */
export function createCatalogue({ call, clock, logger }: CatalogueDeps): Catalogue {
  let known = '';
  const offers = remember<TierEntries>(clock, () => readEntries(call), { ttlMs: () => freshMs, capacity: 1 });
  const retired = remember(clock, (id) => readTier(call, id), { ttlMs: () => freshMs, capacity: 1_000 });

  function report(mistakes: readonly string[]): void {
    const text = mistakes.join('\n');
    if (text !== known && text !== '') logger.warn({ mistakes }, 'payment provider metadata not usable');
    known = text;
  }

  return {
    async tiers() {
      const { tiers, mistakes } = await offers.get('');
      report(mistakes);
      return tiers;
    },
    async tierOf(productId) {
      const { tiers } = await offers.get('');
      return tiers.find((tier) => tier.product_id === productId)?.tier ?? retired.get(productId);
    },
  };
}

async function readEntries(call: ProviderCall): Promise<TierEntries> {
  const [products, prices] = await Promise.all([
    allPages(mostPages, (after) =>
      call('list products', ({ products: list }) => list.list({ active: true, limit: pageSize, ...after })),
    ),
    allPages(mostPages, (after) =>
      call('list prices', ({ prices: list }) =>
        list.list({ active: true, type: 'recurring', limit: pageSize, ...after }),
      ),
    ),
  ]);
  return tierEntries(products, prices);
}

async function readTier(call: ProviderCall, id: string): Promise<PaidTier | undefined> {
  try {
    return tierOfProduct(await call('read product', ({ products }) => products.retrieve(id)));
  } catch (error) {
    // A product that was deleted has no metadata any more.
    if (error instanceof ProviderRefusal && error.providerCode === 'resource_missing') return undefined;
    throw error;
  }
}

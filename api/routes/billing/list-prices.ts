import { json, type Reply } from '../../../lib/http/route.ts';
import type { Catalogue } from '../../billing/payment-provider.ts';

/** The same for every tenant. */
export function handleListPrices(catalogue: Pick<Catalogue, 'tiers'>): () => Promise<Reply> {
  return async () => json({ tiers: await catalogue.tiers() });
}

import type { Stripe } from 'stripe';
import { ownMember } from '../../../lib/own-member.ts';
import { type PaidTier, type Price, type PriceRole, paidTiers, priceRoles, type Tier } from '../objects.ts';

/** The parts of the provider's objects that a catalogue is made of. */
export type Product = Pick<Stripe.Product, 'id' | 'name' | 'description' | 'metadata' | 'created'>;
export type ProviderPrice = Pick<
  Stripe.Price,
  'id' | 'product' | 'metadata' | 'created' | 'currency' | 'unit_amount' | 'recurring'
>;

/** The offers, and an operator's mistakes as sentences for the log. */
export interface TierEntries {
  readonly tiers: readonly Tier[];
  readonly mistakes: readonly string[];
}

const intervalOf = { monthly: 'month', annual: 'year', seat_monthly: 'month', seat_annual: 'year' } as const;

/**
 * Products whose metadata `tier` names one of ours, with the prices whose metadata `role` names a field of it. Where
 * two claim the same place the newer one counts, so that a price can be raised without a gap.
 */
export function tierEntries(products: readonly Product[], prices: readonly ProviderPrice[]): TierEntries {
  const mistakes: string[] = [];
  const usable = prices.filter((price) => {
    const mistake = mistakeOf(price);
    if (mistake !== undefined) mistakes.push(`price ${price.id}: ${mistake}`);
    return mistake === undefined;
  });
  const tiers = paidTiers.flatMap((tier) => {
    const [product, ...others] = newestFirst(products.filter((candidate) => tierOfProduct(candidate) === tier));
    mistakes.push(...others.map(({ id }) => `product ${id}: another product has the tier ${tier} and is newer`));
    if (product === undefined) return [];
    const included = includedSeats(product);
    if (included === undefined) mistakes.push(`product ${product.id}: metadata included_seats is not a whole number`);
    return [entryOf(tier, product, included ?? 0, usable)];
  });
  return { tiers, mistakes };
}

/** The tier that a product's metadata names. */
export function tierOfProduct({ metadata }: Pick<Product, 'metadata'>): PaidTier | undefined {
  return paidTiers.find((tier) => tier === ownMember(metadata, 'tier'));
}

function entryOf(tier: PaidTier, product: Product, seats: number, prices: readonly ProviderPrice[]): Tier {
  const own = newestFirst(prices.filter((price) => idOf(price.product) === product.id));
  const priced = priceRoles.map((role) => [role, own.find((price) => roleOf(price) === role)] as const);
  const fields = Object.fromEntries(priced.map(([role, price]) => [role, price === undefined ? null : present(price)]));
  return {
    tier,
    product_id: product.id,
    name: product.name,
    description: product.description ?? '',
    included_seats: seats,
    ...(fields as Record<PriceRole, Price | null>),
  };
}

const present = ({ id, unit_amount, currency }: ProviderPrice): Price => ({
  price_id: id,
  amount: unit_amount ?? 0,
  currency,
});

/** Prices without a role are for something else, and no mistake. */
function mistakeOf(price: ProviderPrice): string | undefined {
  if (ownMember(price.metadata, 'role') === undefined) return undefined;
  const role = roleOf(price);
  if (role === undefined) return `metadata role must be one of ${priceRoles.join(', ')}`;
  if (price.recurring?.interval !== intervalOf[role] || price.recurring.interval_count !== 1) {
    return `with the role ${role} it must recur every ${intervalOf[role]}`;
  }
  if (price.recurring.usage_type !== 'licensed') return 'it must not be metered';
  return price.unit_amount === null ? 'it must have one whole amount for a unit' : undefined;
}

const roleOf = ({ metadata }: ProviderPrice): PriceRole | undefined =>
  priceRoles.find((role) => role === ownMember(metadata, 'role'));

/** Undefined for text that is no number; none at all means zero. */
function includedSeats({ metadata }: Product): number | undefined {
  const text = ownMember(metadata, 'included_seats') ?? '0';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

const newestFirst = <T extends { readonly created: number; readonly id: string }>(all: readonly T[]): T[] =>
  all.toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));

const idOf = (reference: string | { readonly id: string }): string =>
  typeof reference === 'string' ? reference : reference.id;

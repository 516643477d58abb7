import { describe, expect, it } from 'vitest';
import type { Tier } from '../objects.ts';
import { type Product, type ProviderPrice, tierEntries } from './tier-entries.ts';

const product = (changes: Partial<Product> = {}): Product => ({
  id: 'prod_pro',
  name: 'Pro',
  description: 'For small teams',
  created: 1,
  metadata: { tier: 'pro', included_seats: '3' },
  ...changes,
});

const recurring = (interval: string, changes: object = {}) =>
  ({ interval, interval_count: 1, usage_type: 'licensed', ...changes }) as ProviderPrice['recurring'];

const price = (id: string, role: string, changes: Partial<ProviderPrice> = {}): ProviderPrice => ({
  id,
  product: 'prod_pro',
  metadata: { role },
  created: 1,
  currency: 'eur',
  unit_amount: 2_900,
  recurring: recurring(role.endsWith('annual') ? 'year' : 'month'),
  ...changes,
});

const shown = (price_id: string, amount = 2_900) => ({ price_id, amount, currency: 'eur' });

describe('BILL-01 BILL-11 what is sold', () => {
  it('BILL-02 BILL-03 BILL-04 BILL-05 is a product with up to four prices', () => {
    const prices = [
      price('m', 'monthly'),
      price('a', 'annual', { unit_amount: 29_000 }),
      price('sm', 'seat_monthly', { unit_amount: 0 }),
      price('sa', 'seat_annual', { product: { id: 'prod_pro' } as never }),
    ];
    expect(tierEntries([product()], prices)).toEqual({
      tiers: [
        {
          tier: 'pro',
          product_id: 'prod_pro',
          name: 'Pro',
          description: 'For small teams',
          included_seats: 3,
          monthly: shown('m'),
          annual: shown('a', 29_000),
          seat_monthly: shown('sm', 0),
          seat_annual: shown('sa'),
        },
      ],
      mistakes: [],
    });
  });

  it('BILL-04 may have no price at all, no description and no seats', () => {
    const { tiers, mistakes } = tierEntries([product({ description: null, metadata: { tier: 'enterprise' } })], []);
    expect(tiers).toEqual([
      {
        tier: 'enterprise',
        product_id: 'prod_pro',
        name: 'Pro',
        description: '',
        included_seats: 0,
        monthly: null,
        annual: null,
        seat_monthly: null,
        seat_annual: null,
      },
    ]);
    expect(mistakes).toEqual([]);
  });

  it('BILL-01 comes in the order pro, business, enterprise, whatever the order of the provider', () => {
    const tiers = ['enterprise', 'pro', 'business'].map((tier) => product({ id: tier, metadata: { tier } }));
    expect(tierEntries(tiers, []).tiers.map(({ tier }) => tier)).toEqual(['pro', 'business', 'enterprise']);
  });

  it.each(['free', 'Pro', '', 'gold', 'constructor'])('BILL-01 is no product with the tier "%s"', (tier) => {
    expect(tierEntries([product({ metadata: { tier } })], []).tiers).toEqual([]);
  });

  it('is no product without a tier, and no price without a role', () => {
    const other = price('other', 'monthly', { metadata: {} });
    expect(tierEntries([product({ metadata: {} })], [other])).toEqual({ tiers: [], mistakes: [] });
  });

  it('is the newer of two prices for the same place, and the newer of two products for the same tier', () => {
    const products = [product({ id: 'prod_old', created: 1 }), product({ id: 'prod_new', created: 2 })];
    const prices = [
      price('new', 'monthly', { product: 'prod_new', created: 9 }),
      price('old', 'monthly', { product: 'prod_new', created: 8 }),
      price('of-the-old', 'monthly', { product: 'prod_old', created: 99 }),
    ];
    const { tiers, mistakes } = tierEntries(products, prices);
    expect(tiers).toHaveLength(1);
    expect(tiers[0]).toMatchObject({ product_id: 'prod_new', monthly: shown('new') });
    expect(mistakes).toEqual(['product prod_old: another product has the tier pro and is newer']);
  });

  it.each<[title: string, changes: Partial<ProviderPrice>, mistake: string]>([
    ['an unknown role', { metadata: { role: 'weekly' } }, 'metadata role must be one of'],
    ['a period of another length', { recurring: recurring('year') }, 'must recur every month'],
    ['a period of three months', { recurring: recurring('month', { interval_count: 3 }) }, 'must recur every month'],
    ['no period', { recurring: null }, 'must recur every month'],
    ['a meter', { recurring: recurring('month', { usage_type: 'metered' }) }, 'must not be metered'],
    ['amounts that depend on the quantity', { unit_amount: null }, 'must have one whole amount'],
  ])('is no price with %s, and the mistake is reported', (_title, changes, mistake) => {
    const { tiers, mistakes } = tierEntries([product()], [price('wrong', 'monthly', changes)]);
    expect(tiers[0]?.monthly).toBeNull();
    expect(mistakes).toEqual([expect.stringContaining(`price wrong: `)]);
    expect(mistakes[0]).toContain(mistake);
  });

  it.each<[text: string, seats: Tier['included_seats'], isMistake: boolean]>([
    ['0', 0, false],
    ['25', 25, false],
    ['-1', 0, true],
    ['1.5', 0, true],
    ['many', 0, true],
    ['', 0, true],
  ])('BILL-03 includes "%s" seats as %s', (included_seats, seats, isMistake) => {
    const { tiers, mistakes } = tierEntries([product({ metadata: { tier: 'pro', included_seats } })], []);
    expect(tiers[0]?.included_seats).toBe(seats);
    expect(mistakes).toHaveLength(isMistake ? 1 : 0);
  });
});

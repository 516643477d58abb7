import { describe, expect, it } from 'vitest';
import type { Tier } from './objects.ts';
import { type CheckoutRequest, readOrder } from './order.ts';
import type { Order } from './payment-provider.ts';

const price = (price_id: string) => ({ price_id, amount: 100, currency: 'eur' });

const tier = (name: Tier['tier'], prices: Partial<Tier> = {}): Tier => ({
  tier: name,
  product_id: `prod_${name}`,
  name,
  description: '',
  included_seats: 1,
  monthly: price(`${name}-monthly`),
  annual: price(`${name}-annual`),
  seat_monthly: price(`${name}-seat-monthly`),
  seat_annual: price(`${name}-seat-annual`),
  ...prices,
});

const tiers = [tier('pro'), tier('business'), tier('enterprise', { annual: null, seat_monthly: null })];

describe('BILL-12 an order', () => {
  it.each<[title: string, request: CheckoutRequest, want: Order]>([
    ['a month of a tier', { price_id: 'pro-monthly' }, { priceId: 'pro-monthly' }],
    ['a year of a tier', { price_id: 'business-annual' }, { priceId: 'business-annual' }],
    [
      'a month with one seat',
      { price_id: 'pro-monthly', seat_price_id: 'pro-seat-monthly', seats: 1 },
      { priceId: 'pro-monthly', seats: { priceId: 'pro-seat-monthly', quantity: 1 } },
    ],
    [
      'AMB-184 the price of seats without their number, which means one',
      { price_id: 'pro-monthly', seat_price_id: 'pro-seat-monthly' },
      { priceId: 'pro-monthly', seats: { priceId: 'pro-seat-monthly', quantity: 1 } },
    ],
    [
      'AMB-184 no seats, with their price',
      { price_id: 'pro-monthly', seat_price_id: 'pro-seat-monthly', seats: 0 },
      { priceId: 'pro-monthly' },
    ],
    [
      'a year with ten thousand seats',
      { price_id: 'business-annual', seat_price_id: 'business-seat-annual', seats: 10_000 },
      { priceId: 'business-annual', seats: { priceId: 'business-seat-annual', quantity: 10_000 } },
    ],
  ])('is %s', (_title, request, want) => {
    expect(readOrder(request, tiers)).toEqual(want);
  });

  it.each<[title: string, request: CheckoutRequest, path: string]>([
    ['a price that is not offered', { price_id: 'pro-weekly' }, 'body.price_id'],
    ['the price of a seat as its base', { price_id: 'pro-seat-monthly' }, 'body.price_id'],
    ['a product instead of a price', { price_id: 'prod_pro' }, 'body.price_id'],
    ['the name of a property that every object has', { price_id: 'constructor' }, 'body.price_id'],
    ['no seats without their price', { price_id: 'pro-monthly', seats: 0 }, 'body.seat_price_id'],
    ['seats without their price', { price_id: 'pro-monthly', seats: 1 }, 'body.seat_price_id'],
    [
      'seats of another tier',
      { price_id: 'pro-monthly', seat_price_id: 'business-seat-monthly', seats: 1 },
      'body.seat_price_id',
    ],
    [
      'seats of another period',
      { price_id: 'pro-monthly', seat_price_id: 'pro-seat-annual', seats: 1 },
      'body.seat_price_id',
    ],
    [
      'the base price as a seat',
      { price_id: 'pro-monthly', seat_price_id: 'pro-monthly', seats: 1 },
      'body.seat_price_id',
    ],
    [
      'seats of a tier that sells none',
      { price_id: 'enterprise-monthly', seat_price_id: 'enterprise-seat-monthly', seats: 1 },
      'body.seat_price_id',
    ],
  ])('is refused for %s', (_title, request, path) => {
    expect(() => readOrder(request, tiers)).toThrowError(
      expect.objectContaining({ options: expect.objectContaining({ details: [expect.objectContaining({ path })] }) }),
    );
  });

  it('is refused where nothing is offered', () => {
    expect(() => readOrder({ price_id: 'pro-monthly' }, [])).toThrow('body.price_id');
  });
});

import { describe, expect, it } from 'vitest';
import { readSubscription, type SubscriptionFields } from './records.ts';

const end = Date.parse('2026-12-01T00:00:00Z') / 1_000;

const item = (product: unknown, current_period_end: number): SubscriptionFields['items']['data'][number] =>
  ({ price: { product }, current_period_end }) as never;

const subscription = (changes: Partial<SubscriptionFields> = {}): SubscriptionFields => ({
  status: 'active',
  created: end - 86_400,
  cancel_at: null,
  cancel_at_period_end: false,
  items: { data: [item('prod_pro', end)] },
  ...changes,
});

describe('BILL-08 a subscription of the provider', () => {
  it('is read with the products of its items', () => {
    const items = { data: [item('prod_pro', end), item({ id: 'prod_seat' }, end)] };
    expect(readSubscription(subscription({ items }))).toEqual({
      status: 'active',
      created: (end - 86_400) * 1_000,
      currentPeriodEnd: '2026-12-01T00:00:00.000Z',
      cancelAtPeriodEnd: false,
      productIds: ['prod_pro', 'prod_seat'],
    });
  });

  it('has the period of the item that ends first', () => {
    const items = { data: [item('prod_pro', end + 86_400), item('prod_seat', end)] };
    expect(readSubscription(subscription({ items })).currentPeriodEnd).toBe('2026-12-01T00:00:00.000Z');
  });

  it.each<[title: string, changes: Partial<SubscriptionFields>, want: boolean]>([
    ['nothing says so', {}, false],
    ['the provider says so', { cancel_at_period_end: true }, true],
    ['it has a date at the end of the period', { cancel_at: end }, true],
    ['it has a date before that', { cancel_at: end - 1 }, true],
    ['it has a date after that', { cancel_at: end + 1 }, false],
  ])('ends with its period or not: %s', (_title, changes, want) => {
    expect(readSubscription(subscription(changes)).cancelAtPeriodEnd).toBe(want);
  });

  it('has an end even without items', () => {
    const created = end - 86_400;
    expect(readSubscription(subscription({ items: { data: [] } })).currentPeriodEnd).toBe(
      new Date(created * 1_000).toISOString(),
    );
  });
});

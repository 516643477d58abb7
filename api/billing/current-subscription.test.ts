import { describe, expect, it } from 'vitest';
import { currentSubscription, isEntitling, isOngoing } from './current-subscription.ts';
import type { ProviderSubscription } from './payment-provider.ts';

const subscription = (status: string, created = 0): ProviderSubscription => ({
  status,
  created,
  currentPeriodEnd: '2026-12-01T00:00:00.000Z',
  cancelAtPeriodEnd: false,
  productIds: ['prod_pro'],
});

describe('BILL-07 the status of a subscription', () => {
  it.each<[status: string, entitles: boolean, isActive: boolean]>([
    ['active', true, true],
    ['trialing', true, true],
    ['past_due', true, true],
    ['unpaid', false, true],
    ['paused', false, true],
    ['incomplete', false, false],
    ['incomplete_expired', false, false],
    ['canceled', false, false],
    ['a word of tomorrow', false, true],
  ])('%s: entitles %s, active %s', (status, entitles, isActive) => {
    expect(isEntitling(subscription(status))).toBe(entitles);
    expect(isOngoing(subscription(status))).toBe(isActive);
  });
});

describe('BILL-14 the subscription that counts', () => {
  it.each<[title: string, all: ProviderSubscription[], want: ProviderSubscription | undefined]>([
    ['is none where there is none', [], undefined],
    ['is one that is over, where there is no other', [subscription('canceled', 5)], subscription('canceled', 5)],
    [
      'is one that entitles before a newer one that does not',
      [subscription('canceled', 9), subscription('past_due', 1)],
      subscription('past_due', 1),
    ],
    [
      'is the active one before a newer one in its trial',
      [subscription('trialing', 9), subscription('active', 1)],
      subscription('active', 1),
    ],
    [
      'is the newest of those that are alike',
      [subscription('canceled', 1), subscription('unpaid', 3), subscription('incomplete', 2)],
      subscription('unpaid', 3),
    ],
  ])('%s', (_title, all, want) => {
    expect(currentSubscription(all)).toEqual(want);
  });
});

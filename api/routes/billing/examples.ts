import type { Invoice, TenantSubscription, Tier } from '../../billing/objects.ts';

/** Examples of the reference; the types and a test of all contracts check them against the schemas. */

const tier: Tier = {
  tier: 'pro',
  product_id: 'prod_RcK2aPn8Xq',
  name: 'Pro',
  description: 'For small teams',
  included_seats: 3,
  monthly: { price_id: 'price_1QdProMonthly', amount: 2900, currency: 'usd' },
  annual: { price_id: 'price_1QdProAnnual', amount: 29_000, currency: 'usd' },
  seat_monthly: { price_id: 'price_1QdProSeatMonthly', amount: 900, currency: 'usd' },
  seat_annual: null,
};

const subscription: TenantSubscription = {
  tier: 'pro',
  status: 'active',
  current_period_end: '2026-12-01T00:00:00.000Z',
  cancel_at_period_end: false,
  provider_customer_id: 'cus_RkT0vXw3Lm',
};

const invoice: Invoice = {
  id: 'in_1QdF3k2eZvKYlo2C',
  amount: 4700,
  currency: 'usd',
  status: 'paid',
  created: '2026-11-01T00:00:00.000Z',
  pdf_url: 'https://pay.example.com/invoices/in_1QdF3k2eZvKYlo2C.pdf',
};

export const examples = {
  tier,
  subscription,
  invoice,
  checkout: { price_id: 'price_1QdProMonthly', seat_price_id: 'price_1QdProSeatMonthly', seats: 2 },
  checkoutUrl: 'https://checkout.example.com/c/pay/cs_live_a1b2c3',
  portal: { return_url: 'https://app.example.com/settings/billing' },
  portalUrl: 'https://billing.example.com/p/session/live_d4e5f6',
};

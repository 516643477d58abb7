import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaymentProvider } from '../../../api/billing/payment-provider.ts';
import { createStripe } from '../../../api/billing/stripe/create-stripe.ts';
import { systemClock } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import { freePort } from '../harness/free-port.ts';
import { type Daemon, startDaemon } from '../outputs/daemon.ts';
import { programPath } from '../outputs/programs.ts';

/**
 * Needs no cluster, only stripe-mock: it holds each request against the provider's published description, refuses what
 * does not fit, and answers with an object of the described form.
 */
describe('requests to the payment provider are what its description says', () => {
  let mock: Daemon;
  let provider: PaymentProvider;

  beforeAll(async () => {
    const address = `127.0.0.1:${await freePort()}`;
    mock = await startDaemon({
      program: await programPath('stripe-mock'),
      args: ['-http-addr', address, '-https-addr', '127.0.0.1:0'],
      ready: async () => (await fetch(`http://${address}/`)).status > 0,
    });
    const options = {
      secretKey: 'sk_test_123',
      apiUrl: new URL(`http://${address}`),
      installation: 'tests',
      successUrl: 'https://app.example.com/thanks?id={CHECKOUT_SESSION_ID}',
      cancelUrl: 'https://app.example.com/plans',
      returnUrl: 'https://app.example.com/settings',
    };
    provider = createStripe(options, { clock: systemClock, logger: silentLogger, newId });
  });
  afterAll(() => mock?.stop());

  it('BILL-11 products and prices', async () => {
    // None of its products has a tier.
    expect(await provider.catalogue.tiers()).toEqual([]);
    expect(await provider.catalogue.tierOf('prod_of-the-mock')).toBeUndefined();
  });

  it('BILL-14 customers: search, list, create and read', async () => {
    expect(await provider.customers.find('acme')).toBeUndefined();
    expect(await provider.customers.ensure('acme')).toMatch(/^cus_/);
  });

  it.each([undefined, 1, 10_000])('BILL-12 a checkout with %s seats', async (quantity) => {
    const seats = quantity === undefined ? {} : { seats: { priceId: 'price_seat', quantity } };
    const order = { priceId: 'price_base', ...seats };
    expect(await provider.sessions.checkout({ tenant: 'acme', customer: 'cus_1', order })).toMatch(/^https:/);
  });

  it('BILL-13 a portal session', async () => {
    expect(await provider.sessions.portal({ customer: 'cus_1' })).toMatch(/^https:/);
  });

  it('BILL-08 BILL-14 subscriptions', async () => {
    const [subscription] = await provider.records.subscriptions('cus_1');
    expect(subscription).toMatchObject({
      status: expect.any(String),
      currentPeriodEnd: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      cancelAtPeriodEnd: expect.any(Boolean),
      productIds: [expect.stringMatching(/^prod_/)],
    });
  });

  it('BILL-09 BILL-10 BILL-15 invoices', async () => {
    const { invoices } = await provider.records.invoices('cus_1', { limit: 100, after: 'in_1' });
    expect(invoices).toEqual([
      {
        id: expect.stringMatching(/^in_/),
        amount: expect.any(Number),
        currency: expect.stringMatching(/^[a-z]{3}$/),
        status: expect.stringMatching(/^(draft|open|paid|void|uncollectible)$/),
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        pdf_url: null,
      },
    ]);
  });

  it('and one that is not is refused, so that the others prove something', async () => {
    const page = { limit: Number.NaN };
    await expect(provider.records.invoices('cus_1', page)).rejects.toMatchObject({ options: { status: 502 } });
  });
});

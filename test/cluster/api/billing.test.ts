import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PaymentProviderDouble, startPaymentProvider } from '../../payment-provider/payment-provider.ts';
import { type ApiWorld, type Received, startApiWorld } from './harness/index.ts';
import { logOf } from './replica-log.ts';

const operations = [
  ['GET', 'prices'],
  ['POST', 'checkout'],
  ['POST', 'portal'],
  ['GET', 'subscription'],
  ['GET', 'invoices'],
] as const;

describe('billing on replicas without a key', () => {
  let world: ApiWorld;
  beforeAll(async () => {
    world = await startApiWorld({ purpose: 'no-billing', nats: false });
  });
  afterAll(() => world?.close());

  it.each(operations)('BILL-16 AMB-053 %s %s: 401 without a token, 501 with one', async (method, path) => {
    const token = await world.token({ user: 'kim', tenant: world.tenant });
    const answers = [
      await world.http(`/v1/billing/${path}`, { method }),
      await world.http(`/v1/billing/${path}`, { method, token }),
      await world.http(`/v1/billing/${path}`, {
        method,
        token,
        ...(method === 'POST' ? { body: { nonsense: 1 } } : {}),
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 501, 501]);
    expect(answers[1]?.json()).toEqual({
      error: 'payment_provider_not_configured',
      code: 'payment_provider_not_configured',
      message: 'this installation has no payment provider; set PAYMENT_PROVIDER_SECRET_KEY to use billing',
    });
  });
});

describe('billing on two replicas', () => {
  let provider: PaymentProviderDouble;
  let world: ApiWorld;

  beforeAll(async () => {
    provider = await startPaymentProvider();
    world = await startApiWorld({
      purpose: 'billing',
      replicas: 2,
      nats: false,
      env: {
        PAYMENT_PROVIDER_SECRET_KEY: provider.secretKey,
        PAYMENT_PROVIDER_API_URL: provider.url,
        PAYMENT_PROVIDER_SUCCESS_URL: 'https://app.example.com/thanks',
        PAYMENT_PROVIDER_CANCEL_URL: 'https://app.example.com/plans',
        PAYMENT_PROVIDER_RETURN_URL: 'https://app.example.com/settings',
      },
    });
    const product = provider.ledger.addProduct();
    for (const role of ['monthly', 'annual', 'seat_monthly', 'seat_annual']) provider.ledger.addPrice(product, role);
  });
  afterAll(async () => {
    await world?.close();
    await provider?.stop();
  });

  const call = async (
    path: string,
    body?: object,
    options: { tenant?: string; replica?: number } = {},
  ): Promise<Received> => {
    const token = await world.token({ user: 'kim', tenant: options.tenant ?? world.tenant });
    return world.http(`/v1/billing/${path}`, { token, ...(body === undefined ? {} : { body }) }, options.replica);
  };

  it('BILL-11 BILL-12 BILL-14 BILL-15 a tenant buys on one and is served by the other', async () => {
    const [tier] = (await call('prices')).json<{ tiers: Record<'monthly' | 'seat_monthly', { price_id: string }>[] }>()
      .tiers;
    const order = { price_id: tier?.monthly.price_id, seat_price_id: tier?.seat_monthly.price_id, seats: 2 };
    const checkouts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => call('checkout', order, { replica: index % 2 })),
    );
    expect(checkouts.map(({ status }) => status)).toEqual(checkouts.map(() => 200));
    expect(provider.ledger.customers).toMatchObject([{ metadata: { windlass_tenant: world.tenant } }]);
    provider.ledger.pay(checkouts[0]?.json<{ url: string }>().url ?? '');
    const read = (path: string, replica: number) => call(path, undefined, { replica });
    expect((await read('subscription', 1)).json()).toMatchObject({
      tier: 'pro',
      status: 'active',
      cancel_at_period_end: false,
      provider_customer_id: provider.ledger.customers[0]?.id,
    });
    expect((await read('invoices', 1)).json()).toMatchObject({ invoices: [{ amount: 3 * 2_900, status: 'paid' }] });
    expect((await call('checkout', order, { replica: 1 })).status).toBe(409);
  });

  it('BILL-14 another tenant has none of it', async () => {
    const { otherTenant: tenant } = world;
    expect((await call('subscription', undefined, { tenant })).json()).toMatchObject({ tier: 'free', status: null });
    expect((await call('invoices', undefined, { tenant })).json()).toEqual({ invoices: [] });
  });

  it('BILL-13 a service account opens the portal of the tenant that it names, and of none that is not set up', async () => {
    const token = await world.token({ serviceAccount: 'shop' });
    const open = (tenant: string) =>
      world.http('/v1/billing/portal', { method: 'POST', token, headers: { 'x-tenant-id': tenant } });
    expect((await open(world.tenant)).status).toBe(200);
    expect((await open('never-set-up')).status).toBe(404);
    expect(provider.ledger.customers).toHaveLength(1);
  });

  it('a provider that is silent is given up, and everything else is served meanwhile', async () => {
    provider.mishaps.push(
      ...Array.from({ length: 3 }, () => ({ at: 'GET /v1/invoices', mishap: { kind: 'hang' } as const })),
    );
    const started = Date.now();
    const silent = call('invoices');
    expect((await world.http('/health')).status).toBe(200);
    expect(await silent).toMatchObject({ status: 502 });
    expect(Date.now() - started).toBeLessThan(30_000);
  }, 60_000);

  it('no key, customer or address is in the log', async () => {
    const text = JSON.stringify(await Promise.all(world.replicas.map(logOf)));
    expect(text).toContain('payment provider call failed');
    for (const secret of [provider.secretKey, provider.ledger.customers[0]?.id ?? '-', 'pay.example.com']) {
      expect(text).not.toContain(secret);
    }
  });
});

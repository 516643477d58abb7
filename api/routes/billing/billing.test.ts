import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { createHttpApp, type Listener, listen } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { newId } from '../../../lib/ids.ts';
import { type PaymentProviderDouble, startPaymentProvider } from '../../../test/payment-provider/payment-provider.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { createStripe } from '../../billing/stripe/create-stripe.ts';
import { contracts, createBillingRoutes } from './index.ts';

/** The token holds the tenant, since tests of billing need no identity provider. */
async function authenticate({ authorization }: { readonly authorization?: string }): Promise<Caller> {
  const tenant = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
  if (tenant === undefined) throw new AppError('unauthenticated', 'no token');
  return { subject: 'user', kind: 'consumer', tenant, roles: [], scopes: [], until: Number.POSITIVE_INFINITY };
}

const known = ['acme', 'globex', ...Array.from({ length: 50 }, (_, index) => `tenant-${index}`)];
const tenants = { namespaceOf: (slug: string) => (known.includes(slug) ? `tenant-${slug}` : undefined) };

async function serve(provider?: PaymentProviderDouble, returnOrigins: string[] = []): Promise<Listener> {
  const stripe =
    provider &&
    createStripe(
      {
        secretKey: provider.secretKey,
        apiUrl: new URL(provider.url),
        installation: 'tests',
        successUrl: 'https://app.example.com/thanks',
        cancelUrl: 'https://app.example.com/plans',
        returnUrl: 'https://app.example.com/settings',
      },
      // Pauses between attempts would only make the tests slower.
      { clock: { ...systemClock, sleep: async () => undefined }, logger: silentLogger, newId },
    );
  const app = createHttpApp<Caller>({
    routes: createBillingRoutes({ billing: { ...(stripe && { provider: stripe }), returnOrigins }, tenants }),
    authenticate,
    tenantOf: ({ tenant }) => tenant,
    logger: silentLogger,
    clock: systemClock,
    newId,
  });
  return listen(app, { port: 0, host: '127.0.0.1' });
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

const caller =
  (listener: () => Listener) =>
  async (method: string, path: string, body?: unknown, tenant: string | undefined = 'acme'): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${listener().port}/v1/billing/${path}`, {
      method,
      headers: {
        ...(tenant === '' ? {} : { authorization: `Bearer ${tenant}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json(), headers: response.headers };
  };

const operations = contracts.map(
  ({ method, path }) => [method.toUpperCase(), path.slice('/v1/billing/'.length)] as const,
);

describe('billing without a key', () => {
  let listener: Listener;
  beforeAll(async () => {
    listener = await serve();
  });
  afterAll(() => listener.close(AbortSignal.abort()));
  const call = caller(() => listener);

  it.each(operations)('BILL-16 %s %s answers 501', async (method, path) => {
    const bodies =
      method === 'POST' ? [undefined, {}, { price_id: 'price_1' }, '{"broken', { seats: -1 }] : [undefined];
    for (const body of bodies) {
      expect(await call(method, path, body)).toMatchObject({
        status: 501,
        body: { error: 'payment_provider_not_configured' },
      });
    }
  });

  it.each(operations)('AMB-053 ORCH-AUTH-14 %s %s answers 401 before 501', async (method, path) => {
    expect(await call(method, path, undefined, '')).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
  });
});

describe('billing', () => {
  let provider: PaymentProviderDouble;
  let listener: Listener;
  beforeEach(async () => {
    provider = await startPaymentProvider();
    listener = await serve(provider);
  });
  afterEach(async () => {
    await listener.close(AbortSignal.abort());
    await provider.stop();
  });
  const call = caller(() => listener);

  const offer = () => {
    const { ledger } = provider;
    const product = ledger.addProduct();
    const roles = ['monthly', 'annual', 'seat_monthly', 'seat_annual'] as const;
    const prices = roles.map((role) => [role, ledger.addPrice(product, role).id] as const);
    return { product, ...(Object.fromEntries(prices) as Record<(typeof roles)[number], string>) };
  };

  const free = {
    tier: 'free',
    status: null,
    current_period_end: null,
    cancel_at_period_end: null,
    provider_customer_id: null,
  };

  it.each(operations)(
    'ORCH-AUTH-14 %s %s needs a token, and asks the provider nothing without',
    async (method, path) => {
      expect((await call(method, path, undefined, '')).status).toBe(401);
      expect(provider.seen).toEqual([]);
    },
  );

  it('BILL-11 prices are listed', async () => {
    const { product, monthly } = offer();
    const { status, body } = await call('GET', 'prices');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tiers: [
        {
          tier: 'pro',
          product_id: product.id,
          name: 'Pro',
          description: 'For small teams',
          included_seats: 3,
          monthly: { price_id: monthly, amount: 2_900, currency: 'eur' },
        },
      ],
    });
  });

  it('BILL-12 BILL-14 BILL-15 AMB-053 a tenant buys, cancels, loses and buys again', async () => {
    const { monthly, annual, seat_monthly } = offer();
    expect(await call('GET', 'subscription')).toMatchObject({ status: 200, body: free });
    expect(await call('GET', 'invoices')).toMatchObject({ status: 200, body: { invoices: [] } });
    expect(provider.ledger.customers).toEqual([]);

    const bought = await call('POST', 'checkout', { price_id: monthly, seat_price_id: seat_monthly, seats: 2 });
    expect(bought).toMatchObject({ status: 200, body: { url: expect.stringMatching(/^https:/) } });
    expect((await call('GET', 'subscription')).body).toEqual(free);

    const row = provider.ledger.pay((bought.body as { url: string }).url);
    const customer = provider.ledger.customers[0]?.id;
    const active = {
      tier: 'pro',
      status: 'active',
      current_period_end: new Date(row.current_period_end * 1_000).toISOString(),
      cancel_at_period_end: false,
      provider_customer_id: customer,
    };
    expect((await call('GET', 'subscription')).body).toEqual(active);
    expect((await call('GET', 'invoices')).body).toEqual({
      invoices: [
        {
          id: provider.ledger.invoices[0]?.id,
          amount: 3 * 2_900,
          currency: 'eur',
          status: 'paid',
          created: new Date(row.created * 1_000).toISOString(),
          pdf_url: expect.stringMatching(/^https:.*\.pdf$/),
        },
      ],
    });
    expect(await call('POST', 'checkout', { price_id: annual })).toMatchObject({
      status: 409,
      body: { error: 'already_subscribed', message: expect.stringContaining('/v1/billing/portal') },
    });

    row.cancel_at_period_end = true;
    expect((await call('GET', 'subscription')).body).toEqual({ ...active, cancel_at_period_end: true });
    row.status = 'past_due';
    expect((await call('GET', 'subscription')).body).toMatchObject({ tier: 'pro', status: 'past_due' });
    row.status = 'canceled';
    expect((await call('GET', 'subscription')).body).toMatchObject({
      tier: 'free',
      status: 'canceled',
      provider_customer_id: customer,
    });

    const again = await call('POST', 'checkout', { price_id: annual });
    provider.ledger.pay((again.body as { url: string }).url);
    expect((await call('GET', 'subscription')).body).toMatchObject({ tier: 'pro', status: 'active' });
    expect(provider.ledger.customers).toHaveLength(1);
    expect((await call('GET', 'subscription', undefined, 'globex')).body).toEqual(free);
    expect((await call('GET', 'invoices', undefined, 'globex')).body).toEqual({ invoices: [] });
  });

  it('BILL-06 the tier is that of a product which is no longer sold', async () => {
    const { monthly, product } = offer();
    const { body } = await call('POST', 'checkout', { price_id: monthly });
    provider.ledger.pay((body as { url: string }).url);
    product.active = false;
    const second = await serve(provider);
    expect((await caller(() => second)('GET', 'subscription')).body).toMatchObject({ tier: 'pro', status: 'active' });
    await second.close(AbortSignal.abort());
  });

  it('BILL-12 a hundred checkouts at the same time make one customer', async () => {
    const { monthly } = offer();
    const second = await serve(provider);
    const calls = [call, caller(() => second)].flatMap((one) =>
      Array.from({ length: 50 }, () => one('POST', 'checkout', { price_id: monthly })),
    );
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(provider.ledger.customers).toHaveLength(1);
    expect(new Set(provider.ledger.checkouts.map(({ customer }) => customer)).size).toBe(1);
    expect(provider.ledger.checkouts).toHaveLength(100);
    await second.close(AbortSignal.abort());
  });

  it('BILL-12 BILL-13 a tenant that is not set up becomes no customer', async () => {
    const { monthly } = offer();
    for (const [path, body] of [
      ['checkout', { price_id: monthly }],
      ['portal', {}],
    ] as const) {
      expect(await call('POST', path, body, 'nobody')).toMatchObject({ status: 404, body: { error: 'not_found' } });
    }
    expect((await call('GET', 'subscription', undefined, 'nobody')).body).toEqual(free);
    expect(provider.ledger.customers).toEqual([]);
  });

  describe('BILL-12 the body of a checkout', () => {
    const rows: [title: string, body: (prices: ReturnType<typeof offer>) => unknown, path: string][] = [
      ['an array', () => [], 'body'],
      ['null', () => 'null', 'body'],
      ['price_id missing', () => ({}), 'body.price_id'],
      ['price_id null', () => ({ price_id: null }), 'body.price_id'],
      ['price_id a number', () => ({ price_id: 1 }), 'body.price_id'],
      ['price_id empty', () => ({ price_id: '' }), 'body.price_id'],
      ['price_id of 255 characters, unknown', () => ({ price_id: 'p'.repeat(255) }), 'body.price_id'],
      ['price_id of 256 characters', () => ({ price_id: 'p'.repeat(256) }), 'body.price_id'],
      ['price_id that is not offered', () => ({ price_id: 'price_0' }), 'body.price_id'],
      ['price_id that every object has', () => ({ price_id: '__proto__' }), 'body.price_id'],
      ['price_id twice', ({ monthly }) => `{"price_id":"${monthly}","price_id":"${monthly}"}`, 'body.price_id'],
      ['an unknown field', ({ monthly }) => ({ price_id: monthly, quantity: 1 }), 'body.quantity'],
      ['seats alone', ({ monthly }) => ({ price_id: monthly, seats: 1 }), 'body.seat_price_id'],
      ...[-1, 1.5, '1', null, true, 10_001].map(
        (seats): [string, (prices: ReturnType<typeof offer>) => unknown, string] => [
          `seats ${JSON.stringify(seats)}`,
          ({ monthly, seat_monthly }) => ({ price_id: monthly, seat_price_id: seat_monthly, seats }),
          'body.seats',
        ],
      ),
      [
        'seats of another period',
        ({ monthly, seat_annual }) => ({ price_id: monthly, seat_price_id: seat_annual, seats: 1 }),
        'body.seat_price_id',
      ],
    ];

    it.each(rows)('is refused with %s, and no customer is created', async (_title, body, path) => {
      const { status, body: answer } = await call('POST', 'checkout', body(offer()));
      expect(status).toBe(400);
      expect(answer).toMatchObject({ error: 'invalid_request', details: [expect.objectContaining({ path })] });
      expect(provider.ledger.customers).toEqual([]);
    });

    it('is required', async () => {
      expect(await call('POST', 'checkout')).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    });

    it.each([1, 2, 9_999, 10_000])('may ask for %i seats', async (seats) => {
      const { monthly, seat_monthly } = offer();
      const { status } = await call('POST', 'checkout', { price_id: monthly, seat_price_id: seat_monthly, seats });
      expect(status).toBe(200);
      expect(provider.ledger.checkouts[0]?.lines[1]).toEqual({ price: seat_monthly, quantity: seats });
    });
  });

  describe('BILL-13 the portal', () => {
    it.each<[title: string, body: unknown, returnUrl: string]>([
      ['without a body', undefined, 'https://app.example.com/settings'],
      ['with an empty body', {}, 'https://app.example.com/settings'],
      ['with an address', { return_url: 'https://elsewhere.example.com/' }, 'https://elsewhere.example.com/'],
    ])('AMB-053 opens %s, for a tenant that was no customer yet', async (_title, body, returnUrl) => {
      expect(await call('POST', 'portal', body)).toMatchObject({ status: 200, body: { url: expect.any(String) } });
      expect(provider.ledger.portals).toMatchObject([{ fields: { return_url: returnUrl } }]);
      expect(provider.ledger.customers).toMatchObject([{ metadata: { windlass_tenant: 'acme' } }]);
    });

    it.each([
      1,
      null,
      '',
      [],
      'javascript:alert(1)',
      'http://example.com/',
      '/settings',
      `https://e.com/${'a'.repeat(2_100)}`,
    ])('does not lead back to %.60j', async (return_url) => {
      expect(await call('POST', 'portal', { return_url })).toMatchObject({
        status: 400,
        body: { details: [expect.objectContaining({ path: 'body.return_url' })] },
      });
      expect(provider.seen).toEqual([]);
    });

    it('leads back to the allowed origins alone, where some are set', async () => {
      const strict = await serve(provider, ['https://app.example.com']);
      const ask = caller(() => strict);
      expect((await ask('POST', 'portal', { return_url: 'https://app.example.com/a' })).status).toBe(200);
      expect((await ask('POST', 'portal', { return_url: 'https://evil.example.com/' })).status).toBe(400);
      expect((await ask('POST', 'portal')).status).toBe(200);
      await strict.close(AbortSignal.abort());
    });
  });

  describe('BILL-15 invoices', () => {
    it('come in pages', async () => {
      await call('POST', 'portal');
      const customer = provider.ledger.customers[0]?.id ?? '';
      const ids = Array.from({ length: 5 }, () => provider.ledger.addInvoice(customer).id).reverse();
      const pages: string[][] = [];
      let cursor = '';
      do {
        const { body } = await call('GET', `invoices?limit=2${cursor && `&cursor=${cursor}`}`);
        const { invoices, next_cursor } = body as { invoices: { id: string }[]; next_cursor?: string };
        pages.push(invoices.map(({ id }) => id));
        cursor = next_cursor ?? '';
      } while (cursor !== '');
      expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    });

    it.each([
      'limit=0',
      'limit=101',
      'limit=x',
      'limit=1.5',
      'limit=1&limit=2',
      'cursor=',
      'cursor=a%2Fb',
      'cursor=in_x',
      'page=2',
    ])('with ?%s are refused', async (query) => {
      await call('POST', 'portal');
      expect(await call('GET', `invoices?${query}`)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    });

    it.each(['limit=1', 'limit=99', 'limit=100'])('with ?%s are listed', async (query) => {
      await call('POST', 'portal');
      expect(await call('GET', `invoices?${query}`)).toMatchObject({ status: 200, body: { invoices: [] } });
    });

    it('of another tenant are not to be had by their id', async () => {
      await call('POST', 'portal', undefined, 'globex');
      const foreign = provider.ledger.addInvoice(provider.ledger.customers[0]?.id ?? '');
      await call('POST', 'portal');
      const answer = await call('GET', `invoices?cursor=${foreign.id}`);
      const unknown = await call('GET', 'invoices?cursor=in_99999999');
      expect(answer).toMatchObject({ status: 400, body: unknown.body });
    });
  });

  it.each<[title: string, status: number, want: number, error: string]>([
    ['breaks', 500, 502, 'payment_provider_error'],
    ['does not know the key', 401, 502, 'payment_provider_error'],
    ['does not allow it', 403, 502, 'payment_provider_error'],
    ['finds the request wrong', 400, 502, 'payment_provider_error'],
    ['is asked too much', 429, 503, 'payment_provider_busy'],
  ])('a provider that %s (%i) is answered with %i', async (_title, status, want, error) => {
    const body = { error: { type: 'api_error', message: 'sk_test_secret jane@example.com' } };
    for (let attempt = 0; attempt < 3; attempt++) {
      provider.mishaps.push({ at: 'GET /v1/prices', mishap: { kind: 'answer', status, body } });
    }
    const answer = await call('GET', 'prices');
    expect(answer).toMatchObject({ status: want, body: { error, message: expect.any(String) } });
    expect(JSON.stringify(answer.body)).not.toMatch(/secret|jane/);
    expect(answer.headers.get('retry-after')).toBe(want === 503 ? '5' : null);
  });
});

import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { createLogger } from '../../../lib/logger.ts';
import { type PaymentProviderDouble, startPaymentProvider } from '../../../test/payment-provider/payment-provider.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import type { PaymentProvider } from '../payment-provider.ts';
import { createStripe, type StripeDeps, type StripeOptions } from './create-stripe.ts';

let provider: PaymentProviderDouble;
beforeEach(async () => {
  provider = await startPaymentProvider();
});
afterEach(() => provider.stop());

/** A clock whose sleeps take no time and are remembered. */
function impatientClock(): Clock & { readonly slept: number[]; skip(ms: number): void } {
  const slept: number[] = [];
  let skipped = 0;
  return {
    slept,
    skip: (ms) => (skipped += ms),
    now: () => systemClock.now() + skipped,
    steadyMs: () => systemClock.steadyMs() + skipped,
    sleep: async (ms) => void slept.push(ms),
  };
}

function connect(options: Partial<StripeOptions> = {}, deps: Partial<StripeDeps> = {}): PaymentProvider {
  return createStripe(
    {
      secretKey: provider.secretKey,
      apiUrl: new URL(provider.url),
      installation: 'tests',
      successUrl: 'https://app.example.com/thanks?id={CHECKOUT_SESSION_ID}',
      cancelUrl: 'https://app.example.com/plans',
      returnUrl: 'https://app.example.com/settings',
      attemptMs: 2_000,
      ...options,
    },
    { clock: impatientClock(), logger: silentLogger, newId, random: () => 0, ...deps },
  );
}

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'no failure',
    (error: unknown) => error,
  );

const refusal = { options: { status: 502, error: 'payment_provider_error' } };

describe("a tenant's customer", () => {
  it('is created once, however many calls and replicas ask for it at the same time', async () => {
    const calls = [connect(), connect(), connect()].flatMap(({ customers }) =>
      Array.from({ length: 20 }, () => customers.ensure('acme')),
    );
    const ids = new Set(await Promise.all(calls));
    expect(ids).toEqual(new Set([provider.ledger.customers[0]?.id]));
    expect(provider.ledger.customers).toMatchObject([
      { name: 'acme', metadata: { windlass_tenant: 'acme', windlass_installation: 'tests' } },
    ]);
    expect(provider.seenAt('/v1/customers').filter(({ method }) => method === 'POST')).toHaveLength(3);
  });

  it('is created once while the search knows nothing of it, also after a restart', async () => {
    provider.searchLags = true;
    const id = await connect().customers.ensure('acme');
    expect(await connect().customers.ensure('acme')).toBe(id);
    expect(await connect().customers.find('acme')).toBe(id);
    expect(provider.ledger.customers).toHaveLength(1);
  });

  it('is found by the search when it is too old for the list of new ones', async () => {
    provider.ledger.now = () => 1_000_000_000;
    const id = await connect().customers.ensure('acme');
    expect(await connect().customers.find('acme')).toBe(id);
    provider.searchLags = true;
    expect(await connect().customers.find('acme')).toBeUndefined();
  });

  it('is created once when the answer to the first attempt is lost', async () => {
    const lost = { at: 'POST /v1/customers', mishap: { kind: 'break', carriedOut: true } } as const;
    provider.mishaps.push(lost, lost);
    await connect().customers.ensure('acme');
    expect(provider.mishaps).toEqual([]);
    expect(provider.ledger.customers).toHaveLength(1);
  });

  it('is not created by looking for it', async () => {
    expect(await connect().customers.find('acme')).toBeUndefined();
    expect(provider.ledger.customers).toEqual([]);
  });

  it('belongs to its installation and to no other that shares the account', async () => {
    const production = await connect({ installation: 'production' }).customers.ensure('acme');
    const staging = await connect({ installation: 'staging' }).customers.ensure('acme');
    expect(staging).not.toBe(production);
    expect(await connect({ installation: 'production' }).customers.find('acme')).toBe(production);
  });

  it('is the oldest, where an operator made a second one by hand', async () => {
    const metadata = { windlass_tenant: 'acme', windlass_installation: 'tests' };
    provider.ledger.now = () => 2_000;
    provider.ledger.addCustomer({ name: 'younger', metadata });
    provider.ledger.now = () => 1_000;
    const oldest = provider.ledger.addCustomer({ name: 'older', metadata });
    expect(await connect().customers.ensure('acme')).toBe(oldest.id);
  });

  it('is a new one after the first was deleted at the provider, although its idempotency key is known', async () => {
    const first = await connect().customers.ensure('acme');
    provider.ledger.deleteCustomer(first);
    const second = await connect().customers.ensure('acme');
    expect(second).not.toBe(first);
    provider.ledger.deleteCustomer(second);
    const third = await connect().customers.ensure('acme');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await connect().customers.ensure('acme')).toBe(third);
  });

  it('cannot be looked for with a query inside the name', async () => {
    const victim = await connect().customers.ensure('acme');
    expect(await connect().customers.find("x' OR metadata['windlass_tenant']:'acme")).toBeUndefined();
    expect(await connect().customers.find('acme\\')).toBeUndefined();
    expect(await connect().customers.find('acme')).toBe(victim);
  });

  it('is asked for once in ten minutes, and once in five seconds when there is none', async () => {
    const clock = impatientClock();
    const { customers } = connect({}, { clock });
    const searches = (): number => provider.seenAt('/v1/customers/search').length;
    await customers.find('acme');
    await customers.find('acme');
    expect(searches()).toBe(1);
    clock.skip(5_000);
    await customers.find('acme');
    expect(searches()).toBe(2);
    await customers.ensure('acme');
    await customers.find('acme');
    clock.skip(9 * 60_000);
    await customers.find('acme');
    expect(searches()).toBe(2);
    clock.skip(60_000);
    await customers.find('acme');
    expect(searches()).toBe(3);
  });
});

describe('BILL-11 the catalogue', () => {
  it('is read once a minute, however many ask', async () => {
    const clock = impatientClock();
    const { catalogue } = connect({}, { clock });
    provider.ledger.addPrice(provider.ledger.addProduct(), 'monthly');
    await Promise.all(Array.from({ length: 20 }, () => catalogue.tiers()));
    expect(provider.seenAt('/v1/products')).toHaveLength(1);
    expect(provider.seenAt('/v1/prices')).toHaveLength(1);
    provider.ledger.addProduct({ metadata: { tier: 'business' } });
    clock.skip(59_000);
    expect(await catalogue.tiers()).toHaveLength(1);
    clock.skip(1_000);
    expect(await catalogue.tiers()).toHaveLength(2);
  });

  it.each([99, 100, 101, 250])('is whole with %i products', async (count) => {
    for (let index = 1; index < count; index++) provider.ledger.addProduct({ metadata: {} });
    const last = provider.ledger.addProduct();
    expect(await connect().catalogue.tiers()).toMatchObject([{ product_id: last.id }]);
  });

  it('knows the tier of a product that is no longer sold, and of none that is gone', async () => {
    const retired = provider.ledger.addProduct({ active: false, metadata: { tier: 'business' } });
    const { catalogue } = connect();
    expect(await catalogue.tiers()).toEqual([]);
    expect(await catalogue.tierOf(retired.id)).toBe('business');
    expect(await catalogue.tierOf('prod_of-nobody')).toBeUndefined();
  });

  it('tells a mistake in the metadata once, and again when it changes', async () => {
    const lines: string[] = [];
    const clock = impatientClock();
    const { catalogue } = connect({}, { clock, logger: loggerInto(lines) });
    const product = provider.ledger.addProduct();
    provider.ledger.addPrice(product, 'weekly');
    for (let minute = 0; minute < 3; minute++) {
      await catalogue.tiers();
      clock.skip(60_000);
    }
    expect(lines).toHaveLength(1);
    provider.ledger.addPrice(product, 'daily');
    await catalogue.tiers();
    expect(lines).toHaveLength(2);
  });
});

describe('BILL-12 BILL-13 sessions', () => {
  it('sell what was ordered, to the tenant, and lead back to the configured addresses', async () => {
    const { ledger } = provider;
    const product = ledger.addProduct();
    const [base, seat] = [ledger.addPrice(product, 'monthly'), ledger.addPrice(product, 'seat_monthly')];
    const { customers, sessions } = connect();
    const customer = await customers.ensure('acme');
    const order = { priceId: base.id, seats: { priceId: seat.id, quantity: 7 } };
    const url = await sessions.checkout({ tenant: 'acme', customer, order });
    const [session] = ledger.checkouts;
    expect(session?.url).toBe(url);
    expect(session?.lines).toEqual([
      { price: base.id, quantity: 1 },
      { price: seat.id, quantity: 7 },
    ]);
    expect(session?.fields).toMatchObject({
      customer,
      client_reference_id: 'acme',
      success_url: 'https://app.example.com/thanks?id={CHECKOUT_SESSION_ID}',
      cancel_url: 'https://app.example.com/plans',
      'subscription_data[metadata][windlass_tenant]': 'acme',
    });
  });

  it('are opened once when the answer to the first attempt is lost, and twice when asked twice', async () => {
    const { customers, sessions } = connect();
    const customer = await customers.ensure('acme');
    provider.mishaps.push({ at: 'POST /v1/billing_portal/sessions', mishap: { kind: 'break', carriedOut: true } });
    await sessions.portal({ customer });
    expect(provider.ledger.portals).toHaveLength(1);
    await sessions.portal({ customer, returnUrl: 'https://elsewhere.example.com/' });
    expect(provider.ledger.portals.map(({ fields }) => fields['return_url'])).toEqual([
      'https://app.example.com/settings',
      'https://elsewhere.example.com/',
    ]);
  });
});

describe('BILL-15 invoices', () => {
  it('come newest first, page by page', async () => {
    const { customers, records } = connect();
    const customer = await customers.ensure('acme');
    const ids = Array.from({ length: 5 }, () => provider.ledger.addInvoice(customer).id).reverse();
    provider.ledger.addInvoice(provider.ledger.addCustomer({ name: 'other', metadata: {} }).id);
    const first = await records.invoices(customer, { limit: 3 });
    expect(first.invoices.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(first.more).toBe(true);
    const rest = await records.invoices(customer, { limit: 3, after: ids[2] ?? '' });
    expect(rest.invoices.map(({ id }) => id)).toEqual(ids.slice(3));
    expect(rest.more).toBe(false);
  });

  it('BILL-09 BILL-10 have every status of the provider', async () => {
    const { customers, records } = connect();
    const customer = await customers.ensure('acme');
    for (const status of ['uncollectible', 'void', 'paid', 'open', 'draft', null]) {
      provider.ledger.addInvoice(customer, { status });
    }
    const { invoices } = await records.invoices(customer, { limit: 100 });
    expect(invoices.map(({ status }) => status)).toEqual(['draft', 'draft', 'open', 'paid', 'void', 'uncollectible']);
  });

  it('do not begin after an invoice that is not there', async () => {
    const { customers, records } = connect();
    const customer = await customers.ensure('acme');
    expect(await failure(records.invoices(customer, { limit: 3, after: 'in_nobody' }))).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a provider that fails', () => {
  const answer = (
    status: number,
    headers: Record<string, string> = {},
    body: unknown = { error: { type: 'api_error' } },
  ) => ({ at: 'GET /v1/products', mishap: { kind: 'answer' as const, status, body, headers } });
  const attempts = (): number => provider.seenAt('/v1/products').length;

  it.each([500, 502, 503, 409])('is asked again after a status %i, with growing pauses', async (status) => {
    const clock = impatientClock();
    provider.mishaps.push(answer(status), answer(status));
    expect(await connect({}, { clock }).catalogue.tiers()).toEqual([]);
    expect(attempts()).toBe(3);
    expect(clock.slept).toEqual([125, 250]);
  });

  it('is asked three times and no more', async () => {
    provider.mishaps.push(answer(500), answer(500), answer(500), answer(500));
    expect(await failure(connect().catalogue.tiers())).toMatchObject(refusal);
    expect(attempts()).toBe(3);
  });

  it.each([400, 401, 402, 403, 404])('is not asked again after a status %i', async (status) => {
    provider.mishaps.push(answer(status));
    expect(await failure(connect().catalogue.tiers())).toMatchObject(refusal);
    expect(attempts()).toBe(1);
  });

  it('has the last word on whether to ask again', async () => {
    provider.mishaps.push(answer(500, { 'stripe-should-retry': 'false' }));
    expect(await failure(connect().catalogue.tiers())).toMatchObject(refusal);
    expect(attempts()).toBe(1);
    provider.mishaps.push(answer(429, { 'stripe-should-retry': 'true' }));
    expect(await connect().catalogue.tiers()).toEqual([]);
  });

  it('and answers 429 is reported to callers as busy', async () => {
    provider.mishaps.push(answer(429));
    expect(await failure(connect().catalogue.tiers())).toMatchObject({
      options: { status: 503, error: 'payment_provider_busy' },
    });
    expect(attempts()).toBe(1);
  });

  it.each<[title: string, body: unknown]>([
    ['no JSON', '<html>'],
    ['cut-off JSON', '{"data": ['],
    ['nothing', ''],
  ])('by answering %s is no success', async (_title, body) => {
    provider.mishaps.push(answer(200, {}, body), answer(200, {}, body), answer(200, {}, body));
    expect(await failure(connect().catalogue.tiers())).toMatchObject(refusal);
  });

  it('by silence is given up after its time, three times', async () => {
    for (let attempt = 0; attempt < 3; attempt++)
      provider.mishaps.push({ at: 'GET /v1/products', mishap: { kind: 'hang' } });
    const started = performance.now();
    expect(await failure(connect({ attemptMs: 100 }).catalogue.tiers())).toMatchObject(refusal);
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(attempts()).toBe(3);
  });

  it('by silence is not asked again once the time for all attempts is over', async () => {
    const clock = impatientClock();
    provider.mishaps.push({ at: 'GET /v1/products', mishap: { kind: 'hang' } });
    const slow = { ...clock, now: () => systemClock.now() + attempts() * 12_000 };
    expect(await failure(connect({ attemptMs: 100 }, { clock: slow }).catalogue.tiers())).toMatchObject(refusal);
    expect(attempts()).toBe(1);
  });

  it('by not being there is a refusal like the others', async () => {
    const { catalogue } = connect();
    await provider.stop();
    expect(await failure(catalogue.tiers())).toMatchObject(refusal);
  });

  it('is not followed to another address', async () => {
    const other = await startPaymentProvider();
    provider.mishaps.push(answer(307, { location: `${other.url}/v1/products` }));
    await failure(connect().catalogue.tiers());
    expect(other.seen).toEqual([]);
    await other.stop();
  });

  it('never shows the key, or what it says of a customer, in a log line or an error', async () => {
    const lines: string[] = [];
    const { customers, sessions, catalogue } = connect({}, { logger: loggerInto(lines) });
    const customer = await customers.ensure('acme');
    const body = { error: { type: 'card_error', message: 'jane@example.com has no money', email: 'jane@example.com' } };
    provider.mishaps.push(
      { at: 'POST /v1/billing_portal/sessions', mishap: { kind: 'answer', status: 402, body } },
      answer(500),
    );
    await catalogue.tiers();
    const shown = String(await failure(sessions.portal({ customer }))) + lines.join('\n');
    const wrongKey = connect({ secretKey: 'sk_live_wrong-key' }, { logger: loggerInto(lines) });
    const refused = await failure(wrongKey.catalogue.tiers());
    expect(lines.length).toBeGreaterThan(2);
    expect(lines[0]).toContain('"providerRequestId":"req_double"');
    for (const secret of [provider.secretKey, 'sk_live_wrong-key', 'jane@example.com', customer]) {
      expect(`${shown} ${String(refused)} ${JSON.stringify(refused)} ${lines.join('\n')}`).not.toContain(secret);
    }
  });
});

function loggerInto(lines: string[]) {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return createLogger({ level: 'debug', service: 'api', destination });
}

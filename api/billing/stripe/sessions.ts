import type { Stripe } from 'stripe';
import type { NewId } from '../../../lib/ids.ts';
import type { Order, ProviderSessions } from '../payment-provider.ts';
import { type ProviderCall, ProviderRefusal } from './calls.ts';
import { metadataOf } from './find-customer.ts';

/** Where browsers go afterwards. */
export interface Addresses {
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly returnUrl: string;
}

interface SessionsDeps {
  readonly call: ProviderCall;
  readonly newId: NewId;
}

/** Sessions of the provider's hosted pages. */
export function createProviderSessions(
  { call, newId }: SessionsDeps,
  addresses: Addresses,
  installation: string,
): ProviderSessions {
  return {
    async checkout({ tenant, customer, order }) {
      const idempotencyKey = `windlass-checkout-${newId()}`;
      const session: Stripe.Checkout.SessionCreateParams = {
        mode: 'subscription',
        customer,
        client_reference_id: tenant,
        line_items: lineItems(order),
        success_url: addresses.successUrl,
        cancel_url: addresses.cancelUrl,
        subscription_data: { metadata: metadataOf({ tenant, installation }) },
      };
      const { url } = await call('create checkout session', ({ checkout }) =>
        checkout.sessions.create(session, { idempotencyKey }),
      );
      // Only sessions that are embedded in a page have none.
      if (url === null || url === undefined) throw new ProviderRefusal();
      return url;
    },
    async portal({ customer, returnUrl = addresses.returnUrl }) {
      const idempotencyKey = `windlass-portal-${newId()}`;
      const { url } = await call('create portal session', ({ billingPortal }) =>
        billingPortal.sessions.create({ customer, return_url: returnUrl }, { idempotencyKey }),
      );
      return url;
    },
  };
}

function lineItems({ priceId, seats }: Order): Stripe.Checkout.SessionCreateParams.LineItem[] {
  const base = { price: priceId, quantity: 1 };
  return seats === undefined ? [base] : [base, { price: seats.priceId, quantity: seats.quantity }];
}

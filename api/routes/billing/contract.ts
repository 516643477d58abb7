import { Type } from 'typebox';
import { defineContract, type ErrorContract } from '../../../lib/http/contract.ts';
import { InvoiceSchema, SubscriptionSchema, TierSchema } from '../../billing/objects.ts';
import { longestAddress } from '../../billing/web-address.ts';
import { examples } from './examples.ts';

/** The five operations of spec 1 §4.7. */

const tag = 'Billing';
const setup = 'docs/billing.md says how products and prices are set up at the payment provider.';

/** Ways to fail that every billing operation has, in the order in which they are looked for. */
const everywhere: readonly ErrorContract[] = [
  {
    status: 501,
    error: 'payment_provider_not_configured',
    when: 'This installation has no key of a payment provider. Checked before anything else in the request.',
  },
  { status: 502, error: 'payment_provider_error', when: 'The payment provider refused, or could not be reached.' },
  {
    status: 503,
    error: 'payment_provider_busy',
    when: 'The payment provider takes no more requests at the moment; `Retry-After` says when to try again.',
  },
];

const tenantMissing: ErrorContract = {
  status: 404,
  error: 'not_found',
  when: 'The tenant that the call is scoped to is not set up.',
};

const hostedPage = (description: string, example: string) =>
  ({
    kind: 'json',
    description,
    schema: Type.Object(
      { url: Type.String({ description: 'Where to send the browser; good for a short time and one user.' }) },
      { additionalProperties: false },
    ),
    example: { url: example },
  }) as const;

export const listPrices = defineContract({
  operationId: 'listPrices',
  method: 'get',
  path: '/v1/billing/prices',
  tag,
  summary: 'List what can be bought',
  description: `At most a minute old. ${setup}`,
  access: 'bearer',
  success: {
    kind: 'json',
    description: 'The tiers that are sold: pro, business, enterprise.',
    schema: Type.Object({ tiers: Type.Array(TierSchema) }, { additionalProperties: false }),
    example: { tiers: [examples.tier] },
  },
  errors: everywhere,
});

const providerId = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });

export const createCheckout = defineContract({
  operationId: 'createCheckout',
  method: 'post',
  path: '/v1/billing/checkout',
  tag,
  summary: 'Begin to buy a subscription',
  description: 'Opens a hosted checkout for the tenant. Nothing is paid before the user has finished it there.',
  access: 'bearer',
  body: {
    kind: 'json',
    schema: Type.Object(
      {
        price_id: providerId('A price `monthly` or `annual` of GET /v1/billing/prices.'),
        seat_price_id: Type.Optional(providerId("The same tier's `seat_monthly` or `seat_annual`, for further seats.")),
        seats: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 10_000,
            description: 'Seats beyond those included, with `seat_price_id`; absent: 1; 0: none.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    example: examples.checkout,
  },
  success: hostedPage('A checkout session was opened.', examples.checkoutUrl),
  errors: [
    ...everywhere,
    tenantMissing,
    {
      status: 409,
      error: 'already_subscribed',
      when: 'The tenant has an active subscription. The portal changes it; a second one would be paid twice.',
    },
  ],
});

export const openPortal = defineContract({
  operationId: 'openPortal',
  method: 'post',
  path: '/v1/billing/portal',
  tag,
  summary: 'Open the customer portal',
  description: 'Payment methods, invoices, changes and cancellation are on pages of the payment provider.',
  access: 'bearer',
  body: {
    kind: 'json',
    required: false,
    schema: Type.Object(
      {
        return_url: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: longestAddress,
            description: 'Where the portal leads back to: an https address. Default: set by the operator.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    example: examples.portal,
  },
  success: hostedPage('A portal session was opened.', examples.portalUrl),
  errors: [...everywhere, tenantMissing],
});

export const readSubscription = defineContract({
  operationId: 'readSubscription',
  method: 'get',
  path: '/v1/billing/subscription',
  tag,
  summary: "Read the tenant's subscription",
  description:
    'Statuses `active`, `trialing` and `past_due` entitle to the tier that was bought; under any other the tier is ' +
    '`free`. A tenant that never bought anything has the tier `free` and null in every other field.',
  access: 'bearer',
  success: {
    kind: 'json',
    description: 'The subscription that counts: the best that entitles to something, else the newest.',
    schema: SubscriptionSchema,
    example: examples.subscription,
  },
  errors: everywhere,
});

export const listInvoices = defineContract({
  operationId: 'listInvoices',
  method: 'get',
  path: '/v1/billing/invoices',
  tag,
  summary: "List the tenant's invoices",
  description: 'Newest first.',
  access: 'bearer',
  query: Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Invoices of one answer.' }),
      cursor: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{1,255}$',
          description: '`next_cursor` of the answer before; without it the newest invoices.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  success: {
    kind: 'json',
    description: 'Invoices; `next_cursor` is there when older ones follow.',
    schema: Type.Object(
      { invoices: Type.Array(InvoiceSchema), next_cursor: Type.Optional(Type.String()) },
      { additionalProperties: false },
    ),
    example: { invoices: [examples.invoice] },
  },
  errors: everywhere,
});

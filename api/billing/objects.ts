import { type Static, Type } from 'typebox';
import { oneOf, timestamp } from '../../crds/schema/parts.ts';
import { orNull } from '../../lib/http/or-null.ts';

/** The objects of spec 1 §2.5, as callers of the billing routes see them. */

const currency = Type.String({ pattern: '^[a-z]{3}$', description: 'ISO 4217, in lower case' });
const amount = (what: string) => Type.Integer({ description: `${what}, in the currency's smallest unit` });

/** Paid tiers; each is a product of the payment provider. */
export const paidTiers = ['pro', 'business', 'enterprise'] as const;
export type PaidTier = (typeof paidTiers)[number];

const PriceSchema = Type.Object(
  {
    price_id: Type.String({ description: "The payment provider's id, for POST /v1/billing/checkout" }),
    amount: amount('Price of one unit for one period'),
    currency,
  },
  { additionalProperties: false },
);
export type Price = Readonly<Static<typeof PriceSchema>>;

/** Fields of a tier that hold a price; a price of the provider names the one it belongs in. */
export const priceRoles = ['monthly', 'annual', 'seat_monthly', 'seat_annual'] as const;
export type PriceRole = (typeof priceRoles)[number];

export const TierSchema = Type.Object(
  {
    tier: oneOf(paidTiers, { description: 'Name of the tier' }),
    product_id: Type.String({ description: "The payment provider's id of the product" }),
    name: Type.String({ description: 'Name to show' }),
    description: Type.String({ description: 'Text to show; may be empty' }),
    included_seats: Type.Integer({ minimum: 0, description: 'Seats that the base price includes' }),
    monthly: orNull(PriceSchema),
    annual: orNull(PriceSchema),
    seat_monthly: orNull(PriceSchema),
    seat_annual: orNull(PriceSchema),
  },
  { additionalProperties: false },
);
export type Tier = Readonly<Static<typeof TierSchema>>;

export const SubscriptionSchema = Type.Object(
  {
    tier: oneOf(['free', ...paidTiers], { description: 'Present tier of the tenant' }),
    status: orNull(Type.String({ description: "The payment provider's word, such as active, past_due or canceled" })),
    current_period_end: orNull(timestamp({ description: 'Until when the current period is paid for' })),
    cancel_at_period_end: orNull(Type.Boolean({ description: 'The subscription ends with the current period' })),
    provider_customer_id: orNull(Type.String({ description: "The payment provider's id of the tenant" })),
  },
  { additionalProperties: false },
);
export type TenantSubscription = Readonly<Static<typeof SubscriptionSchema>>;

export const invoiceStatuses = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;
export type InvoiceStatus = (typeof invoiceStatuses)[number];

export const InvoiceSchema = Type.Object(
  {
    id: Type.String({ description: "The payment provider's id" }),
    amount: amount('The total, after discounts and with taxes'),
    currency,
    status: oneOf(invoiceStatuses),
    created: timestamp(),
    pdf_url: orNull(
      Type.String({ description: 'Where the document can be fetched; null for a draft, which has none' }),
    ),
  },
  { additionalProperties: false },
);
export type Invoice = Readonly<Static<typeof InvoiceSchema>>;

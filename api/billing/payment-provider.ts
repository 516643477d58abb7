import type { Invoice, PaidTier, Tier } from './objects.ts';

/**
 * Port of the billing routes to a payment provider. Every call ends within a bounded time. One that the provider
 * refuses, or that does not reach it, throws an HttpError: 503 with `Retry-After` when the provider takes no more,
 * 502 otherwise. No error holds a key or a customer's data.
 */
export interface PaymentProvider {
  readonly catalogue: Catalogue;
  readonly customers: Customers;
  readonly sessions: ProviderSessions;
  readonly records: Records;
}

export interface Catalogue {
  /** Present offers, cheapest tier first; at most a minute old. */
  tiers(): Promise<readonly Tier[]>;
  /** The tier of a product, also when it is no longer sold. */
  tierOf(productId: string): Promise<PaidTier | undefined>;
}

/** A tenant is one customer of the provider. */
export interface Customers {
  /** The customer's id; undefined when the tenant has never been to the checkout or the portal. */
  find(tenant: string): Promise<string | undefined>;
  /** Creates the customer where there is none: once, however many replicas are asked at the same time. */
  ensure(tenant: string): Promise<string>;
}

/** Items of a checkout: a base price once, and further seats. */
export interface Order {
  readonly priceId: string;
  readonly seats?: { readonly priceId: string; readonly quantity: number };
}

/** Pages of the provider that a browser is sent to. */
export interface ProviderSessions {
  checkout(session: { readonly tenant: string; readonly customer: string; readonly order: Order }): Promise<string>;
  portal(session: { readonly customer: string; readonly returnUrl?: string }): Promise<string>;
}

export interface ProviderSubscription {
  /** The provider's word. */
  readonly status: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** RFC 3339. */
  readonly currentPeriodEnd: string;
  readonly cancelAtPeriodEnd: boolean;
  /** Items of the subscription, base and seats. */
  readonly productIds: readonly string[];
}

interface InvoicePage {
  readonly limit: number;
  /** Id of the invoice after which the page begins. */
  readonly after?: string;
}

export interface Records {
  /** The newest hundred, those that are over as well. */
  subscriptions(customer: string): Promise<readonly ProviderSubscription[]>;
  /** Newest first. Throws AppError `not_found` when `after` is no invoice. */
  invoices(
    customer: string,
    page: InvoicePage,
  ): Promise<{ readonly invoices: readonly Invoice[]; readonly more: boolean }>;
}

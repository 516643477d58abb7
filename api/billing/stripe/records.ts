import type { Stripe } from 'stripe';
import { AppError } from '../../../lib/errors.ts';
import { type Invoice, type InvoiceStatus, invoiceStatuses } from '../objects.ts';
import type { ProviderSubscription, Records } from '../payment-provider.ts';
import { type ProviderCall, ProviderRefusal } from './calls.ts';
import { pageSize } from './pages.ts';

/** The provider's records of a customer. */
export function createRecords(call: ProviderCall): Records {
  return {
    async subscriptions(customer) {
      const { data } = await call('list subscriptions', ({ subscriptions }) =>
        subscriptions.list({ customer, status: 'all', limit: pageSize }),
      );
      return data.map(readSubscription);
    },
    async invoices(customer, { limit, after }) {
      const from = after === undefined ? {} : { starting_after: after };
      try {
        const { data, has_more } = await call('list invoices', ({ invoices }) =>
          invoices.list({ customer, limit, ...from }),
        );
        return { invoices: data.map(readInvoice), more: has_more };
      } catch (error) {
        if (!isMissing(error, 'starting_after')) throw error;
        throw new AppError('not_found', 'no invoice has the id that the page is to begin after');
      }
    },
  };
}

/** Only the fields that are read, so that a test can say what matters. */
export type SubscriptionFields = Pick<
  Stripe.Subscription,
  'status' | 'created' | 'cancel_at' | 'cancel_at_period_end'
> & {
  readonly items: { readonly data: readonly Pick<Stripe.SubscriptionItem, 'current_period_end' | 'price'>[] };
};

/** Periods belong to the items; what they share is over when the first of them is. */
export function readSubscription(subscription: SubscriptionFields): ProviderSubscription {
  const { status, created, cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd, items } = subscription;
  const end = Math.min(...items.data.map((item) => item.current_period_end));
  const periodEnd = Number.isFinite(end) ? end : created;
  return {
    status,
    created: created * 1_000,
    currentPeriodEnd: isoTime(periodEnd),
    // The portal says "at the end of the period" by the one field or by the other, as the account's billing mode is.
    cancelAtPeriodEnd: atPeriodEnd || (cancelAt !== null && cancelAt <= periodEnd),
    productIds: items.data.map(({ price: { product } }) => (typeof product === 'string' ? product : product.id)),
  };
}

type InvoiceFields = Pick<Stripe.Invoice, 'id' | 'total' | 'currency' | 'status' | 'created' | 'invoice_pdf'>;

function readInvoice({ id, total, currency, status, created, invoice_pdf }: InvoiceFields): Invoice {
  return {
    id,
    amount: total,
    currency,
    status: isStatus(status) ? status : 'draft',
    created: isoTime(created),
    pdf_url: invoice_pdf ?? null,
  };
}

/** An invoice without a status is one that is still being put together. */
const isStatus = (status: string | null): status is InvoiceStatus =>
  (invoiceStatuses as readonly (string | null)[]).includes(status);

const isoTime = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const isMissing = (error: unknown, param: string): boolean =>
  error instanceof ProviderRefusal && error.providerCode === 'resource_missing' && error.param === param;

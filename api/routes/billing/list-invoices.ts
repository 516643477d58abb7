import { AppError } from '../../../lib/errors.ts';
import { invalidField } from '../../../lib/http/request-errors.ts';
import { json, type Reply, type RouteRequest } from '../../../lib/http/route.ts';
import type { Customers, Records } from '../../billing/payment-provider.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { listInvoices } from './contract.ts';

interface InvoicesDeps {
  readonly customers: Pick<Customers, 'find'>;
  readonly records: Pick<Records, 'invoices'>;
}

/** Makes no customer of a tenant that only looks. */
export function handleListInvoices({ customers, records }: InvoicesDeps) {
  return async ({ caller, query }: RouteRequest<typeof listInvoices, Caller>): Promise<Reply> => {
    const customer = await customers.find(caller.tenant);
    if (customer === undefined) return json({ invoices: [] });
    const { limit, cursor } = query;
    const { invoices, more } = await records.invoices(customer, { limit, after: cursor }).catch(refuseCursor);
    return json({ invoices, next_cursor: more ? invoices.at(-1)?.id : undefined });
  };
}

function refuseCursor(error: unknown): never {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
  throw invalidField('query.cursor', 'is not a next_cursor of an earlier answer');
}

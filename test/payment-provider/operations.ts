import type { CustomerRow, Ledger, SessionRow, SubscriptionRow } from './ledger.ts';
import { missing, ProviderError } from './refusal.ts';

/** A request, with its query or form as the provider writes nested fields: `line_items[0][price]`. */
interface ProviderRequest {
  readonly ledger: Ledger;
  readonly fields: Readonly<Record<string, string>>;
  /** The last part of the path, where it is an id. */
  readonly id: string;
  /** New objects are not found by a search yet. */
  readonly searchLags: boolean;
}

type Operation = (request: ProviderRequest) => unknown;

/** Answers of the double, by method and path. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/customers': ({ ledger, fields }) =>
    ledger.addCustomer({ name: fields['name'] ?? '', metadata: nested(fields, 'metadata') }),
  'GET /v1/customers': (request) => {
    const since = Number(request.fields['created[gte]'] ?? 0);
    return list(
      request,
      living(request).filter(({ created }) => created >= since),
    );
  },
  'GET /v1/customers/search': (request) => searchCustomers(request),
  'GET /v1/customers/{id}': ({ ledger, id }) => {
    const found = ledger.customers.find((one) => one.id === id);
    if (found === undefined) throw missing('customer', id);
    return found.deleted ? { id, object: 'customer', deleted: true } : found;
  },
  'GET /v1/products': (request) => list(request, request.ledger.products.filter(isActive)),
  'GET /v1/products/{id}': ({ ledger, id }) => {
    const found = ledger.products.find((one) => one.id === id);
    if (found === undefined) throw missing('product', id);
    return found;
  },
  'GET /v1/prices': (request) => {
    const { type } = request.fields;
    const prices = request.ledger.prices.filter(isActive);
    return list(request, type === undefined ? prices : prices.filter((price) => price.type === type));
  },
  'POST /v1/checkout/sessions': (request) => checkout(request),
  'POST /v1/billing_portal/sessions': ({ ledger, fields }) => {
    const session = newSession(ledger, fields, 'bps');
    ledger.portals.push(session);
    return session;
  },
  'GET /v1/subscriptions': (request) => {
    const { ledger, fields } = request;
    const rows = ledger.subscriptions.filter(({ customer }) => customer === fields['customer']);
    const visible = fields['status'] === 'all' ? rows : rows.filter(({ status }) => status !== 'canceled');
    return list(request, visible.toReversed(), presentSubscription);
  },
  'GET /v1/invoices': (request) => {
    const { ledger, fields } = request;
    const after = fields['starting_after'];
    const rows = ledger.invoices.filter(({ customer }) => customer === fields['customer']).toReversed();
    if (after !== undefined && !rows.some(({ id }) => id === after)) throw missing('invoice', after, 'starting_after');
    return list(request, rows);
  },
};

const isActive = ({ active }: { readonly active: boolean }): boolean => active;

const living = ({ ledger }: ProviderRequest): CustomerRow[] => ledger.customers.filter((one) => one.deleted !== true);

/** A page: `limit`, 10 by default and 100 at most, after the object named by `starting_after`. */
function list<T extends { readonly id: string }>(
  { fields }: ProviderRequest,
  rows: readonly T[],
  present: (row: T) => unknown = (row) => row,
): unknown {
  const limit = Number(fields['limit'] ?? 10);
  if (!(limit >= 1 && limit <= 100)) throw new ProviderError(400, { param: 'limit', message: 'between 1 and 100' });
  const after = fields['starting_after'];
  const from = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1;
  const data = rows.slice(from, from + limit).map(present);
  return { object: 'list', data, has_more: rows.length > from + limit, url: '/' };
}

/** Understands what the adapter asks: equalities of metadata, joined by AND. */
function searchCustomers(request: ProviderRequest): unknown {
  const clauses = (request.fields['query'] ?? '').split(' AND ').map((clause) => {
    const [, key, value] = /^metadata\['(\w+)'\]:'((?:[^'\\]|\\.)*)'$/.exec(clause) ?? [];
    if (key === undefined || value === undefined) throw new ProviderError(400, { message: `cannot read ${clause}` });
    return [key, value.replaceAll(/\\(.)/g, '$1')] as const;
  });
  const found = living(request).filter(({ metadata }) => clauses.every(([key, value]) => metadata[key] === value));
  return { object: 'search_result', data: request.searchLags ? [] : found, has_more: false, url: '/' };
}

function checkout({ ledger, fields }: ProviderRequest): unknown {
  const lines = linesOf(fields);
  if (fields['mode'] !== 'subscription' || lines.length === 0 || fields['success_url'] === undefined) {
    throw new ProviderError(400, { message: 'mode, line_items and success_url are required' });
  }
  for (const { price } of lines) {
    if (!ledger.prices.some(({ id, active }) => id === price && active)) {
      throw missing('price', price, 'line_items[0][price]');
    }
  }
  const session = { ...newSession(ledger, fields, 'cs'), lines };
  ledger.checkouts.push(session);
  return session;
}

function newSession(ledger: Ledger, fields: ProviderRequest['fields'], prefix: string): SessionRow {
  const customer = fields['customer'] ?? '';
  if (!ledger.customers.some(({ id, deleted }) => id === customer && deleted !== true)) {
    throw missing('customer', customer, 'customer');
  }
  const id = ledger.newId(prefix);
  return { id, customer, url: `https://pay.example.com/${id}`, lines: [], fields, complete: false };
}

function linesOf(fields: ProviderRequest['fields']): SessionRow['lines'] {
  const lines: { price: string; quantity: number }[] = [];
  for (let index = 0; fields[`line_items[${index}][price]`] !== undefined; index++) {
    const price = fields[`line_items[${index}][price]`] ?? '';
    lines.push({ price, quantity: Number(fields[`line_items[${index}][quantity]`]) });
  }
  return lines;
}

/** Fields `name[key]` as a map. */
function nested(fields: ProviderRequest['fields'], name: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, value]) => {
      const key = new RegExp(`^${name}\\[(\\w+)\\]$`).exec(field)?.[1];
      return key === undefined ? [] : [[key, value]];
    }),
  );
}

function presentSubscription({ items, current_period_end, ...row }: SubscriptionRow): unknown {
  const data = items.map(({ price, quantity }) => ({ price, quantity, current_period_end }));
  return { ...row, object: 'subscription', items: { object: 'list', data, has_more: false, url: '/' } };
}

/**
 * The records of the double. Only fields that the billing adapter reads are there; times are seconds, as the
 * provider's.
 */

export interface CustomerRow {
  readonly id: string;
  readonly created: number;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  deleted?: true;
}

interface ProductRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created: number;
  readonly metadata: Readonly<Record<string, string>>;
  active: boolean;
}

interface PriceRow {
  readonly id: string;
  readonly product: string;
  readonly created: number;
  readonly currency: string;
  readonly unit_amount: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly type: 'recurring' | 'one_time';
  readonly recurring: {
    readonly interval: string;
    readonly interval_count: number;
    readonly usage_type: string;
  } | null;
  active: boolean;
}

export interface SessionRow {
  readonly id: string;
  readonly customer: string;
  readonly url: string;
  readonly lines: readonly { readonly price: string; readonly quantity: number }[];
  readonly fields: Readonly<Record<string, string>>;
  complete: boolean;
}

export interface SubscriptionRow {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  readonly items: readonly { readonly price: PriceRow; readonly quantity: number }[];
  status: string;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  current_period_end: number;
}

interface InvoiceRow {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  readonly total: number;
  readonly currency: string;
  status: string | null;
  invoice_pdf: string | null;
}

const month = 30 * 86_400;

/** The provider's books, and what happens to them outside our sight: a customer pays, cancels, or fails to pay. */
export class Ledger {
  readonly customers: CustomerRow[] = [];
  readonly products: ProductRow[] = [];
  readonly prices: PriceRow[] = [];
  readonly checkouts: SessionRow[] = [];
  readonly portals: SessionRow[] = [];
  readonly subscriptions: SubscriptionRow[] = [];
  readonly invoices: InvoiceRow[] = [];
  /** Seconds since the epoch. */
  now: () => number = () => Math.floor(Date.now() / 1_000);
  #ids = 0;

  newId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${String(this.#ids).padStart(8, '0')}`;
  }

  addCustomer(row: Pick<CustomerRow, 'name' | 'metadata'>): CustomerRow {
    const customer = { id: this.newId('cus'), created: this.now(), ...row };
    this.customers.push(customer);
    return customer;
  }

  addProduct(row: Partial<ProductRow> = {}): ProductRow {
    const product = {
      id: this.newId('prod'),
      name: 'Pro',
      description: 'For small teams',
      created: this.now(),
      metadata: { tier: 'pro', included_seats: '3' },
      active: true,
      ...row,
    };
    this.products.push(product);
    return product;
  }

  /** A price whose period follows from its role. */
  addPrice(product: ProductRow, role: string, row: Partial<PriceRow> = {}): PriceRow {
    const price: PriceRow = {
      id: this.newId('price'),
      product: product.id,
      created: this.now(),
      currency: 'eur',
      unit_amount: 2_900,
      metadata: { role },
      type: 'recurring',
      recurring: { interval: role.endsWith('annual') ? 'year' : 'month', interval_count: 1, usage_type: 'licensed' },
      active: true,
      ...row,
    };
    this.prices.push(price);
    return price;
  }

  /** The act of a user on the hosted page: pays, which starts the subscription and writes its first invoice. */
  pay(url: string): SubscriptionRow {
    const session = this.checkouts.find((one) => one.url === url && !one.complete);
    if (session === undefined) throw new Error(`no checkout is open at ${url}`);
    session.complete = true;
    const items = session.lines.map(({ price, quantity }) => ({ price: this.price(price), quantity }));
    return this.subscribe(session.customer, items);
  }

  subscribe(customer: string, items: SubscriptionRow['items'], row: Partial<SubscriptionRow> = {}): SubscriptionRow {
    const created = this.now();
    const subscription: SubscriptionRow = {
      id: this.newId('sub'),
      customer,
      created,
      items,
      status: 'active',
      cancel_at: null,
      cancel_at_period_end: false,
      current_period_end: created + month,
      ...row,
    };
    this.subscriptions.push(subscription);
    const total = items.reduce((sum, { price, quantity }) => sum + (price.unit_amount ?? 0) * quantity, 0);
    this.addInvoice(customer, { total });
    return subscription;
  }

  addInvoice(customer: string, row: Partial<InvoiceRow> = {}): InvoiceRow {
    const id = this.newId('in');
    const invoice: InvoiceRow = {
      id,
      customer,
      created: this.now(),
      total: 2_900,
      currency: 'eur',
      status: 'paid',
      invoice_pdf: `https://invoices.example.com/${id}.pdf`,
      ...row,
    };
    this.invoices.push(invoice);
    return invoice;
  }

  price(id: string): PriceRow {
    const price = this.prices.find((one) => one.id === id);
    if (price === undefined) throw new Error(`no price ${id}`);
    return price;
  }

  /** A deleted customer's subscriptions end with it. */
  deleteCustomer(id: string): void {
    for (const customer of this.customers) if (customer.id === id) customer.deleted = true;
    for (const subscription of this.subscriptions) if (subscription.customer === id) subscription.status = 'canceled';
  }
}

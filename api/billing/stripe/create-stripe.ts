import type { NewId } from '../../../lib/ids.ts';
import type { PaymentProvider } from '../payment-provider.ts';
import { type CallsDeps, type CallsOptions, createCall } from './calls.ts';
import { createCatalogue } from './catalogue.ts';
import { createCustomers } from './customers.ts';
import { createRecords } from './records.ts';
import { type Addresses, createProviderSessions } from './sessions.ts';

export interface StripeOptions extends CallsOptions, Addresses {
  /** Tells the customers of this installation from those of others that share the account. */
  readonly installation: string;
}

export interface StripeDeps extends CallsDeps {
  readonly newId: NewId;
}

/** Stripe as the payment provider. Loads modules and opens connections on first use. */
export function createStripe(options: StripeOptions, deps: StripeDeps): PaymentProvider {
  const { clock, logger, newId } = deps;
  const call = createCall(options, deps);
  return {
    catalogue: createCatalogue({ call, clock, logger }),
    customers: createCustomers({ call, clock }, options.installation),
    sessions: createProviderSessions({ call, newId }, options, options.installation),
    records: createRecords(call),
  };
}

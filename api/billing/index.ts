import { type BillingConfig, billingOptions, billingVariables } from './config.ts';
import type { PaymentProvider } from './payment-provider.ts';
import { createStripe, type StripeDeps } from './stripe/create-stripe.ts';

export { type BillingConfig, billingVariables };

/** Dependencies of the billing routes. */
export interface Billing {
  /** Absent without a key: every operation then answers 501 (spec 1 §4.7). */
  readonly provider?: PaymentProvider;
  /** Origins that the portal may lead back to; empty: any. */
  readonly returnOrigins: readonly string[];
}

/** @throws ConfigError for addresses that cannot be used. */
export function createBilling(config: BillingConfig, deps: StripeDeps): Billing {
  const options = billingOptions(config);
  if (options === undefined) return { returnOrigins: [] };
  return { provider: createStripe(options.stripe, deps), returnOrigins: options.returnOrigins };
}

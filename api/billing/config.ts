import { type Static, Type } from 'typebox';
import { labelNamePattern } from '../../crds/label-name.ts';
import { ConfigError, type ConfigProblem } from '../../lib/config.ts';
import { isLoopback } from '../../lib/loopback.ts';
import type { StripeOptions } from './stripe/create-stripe.ts';
import { addressProblem } from './web-address.ts';

const optionalText = () => Type.Optional(Type.String({ minLength: 1 }));

/** Environment variables of billing (docs/billing.md). */
export const billingVariables = {
  /** spec 1 §4.7: without it the routes answer 501. */
  PAYMENT_PROVIDER_SECRET_KEY: optionalText(),
  PAYMENT_PROVIDER_SUCCESS_URL: Type.String({ minLength: 1, default: 'http://localhost:8080/?checkout=success' }),
  PAYMENT_PROVIDER_CANCEL_URL: Type.String({ minLength: 1, default: 'http://localhost:8080/?checkout=cancelled' }),
  PAYMENT_PROVIDER_RETURN_URL: Type.String({ minLength: 1, default: 'http://localhost:8080/' }),
  PAYMENT_PROVIDER_RETURN_ORIGINS: optionalText(),
  PAYMENT_PROVIDER_INSTALLATION: Type.String({ pattern: labelNamePattern, default: 'windlass' }),
  PAYMENT_PROVIDER_API_URL: optionalText(),
};

export const BillingConfig = Type.Object(billingVariables);
export type BillingConfig = Readonly<Static<typeof BillingConfig>>;

export interface BillingOptions {
  readonly stripe: StripeOptions;
  /** Where the portal may send a browser back to; empty: anywhere. */
  readonly returnOrigins: readonly string[];
}

/**
 * Configuration from the environment; undefined without a key.
 * @throws ConfigError that lists every address which cannot be used.
 */
export function billingOptions(config: BillingConfig): BillingOptions | undefined {
  // A key that comes from a file of a Secret often ends in a line feed, which no header can hold.
  const secretKey = config.PAYMENT_PROVIDER_SECRET_KEY?.trim() ?? '';
  if (secretKey === '') return undefined;
  const problems = [...addressProblems(config), ...originProblems(config), ...apiProblems(config)];
  if (problems.length > 0) throw new ConfigError(problems);
  const apiUrl = config.PAYMENT_PROVIDER_API_URL;
  return {
    stripe: {
      secretKey,
      installation: config.PAYMENT_PROVIDER_INSTALLATION,
      successUrl: config.PAYMENT_PROVIDER_SUCCESS_URL,
      cancelUrl: config.PAYMENT_PROVIDER_CANCEL_URL,
      returnUrl: config.PAYMENT_PROVIDER_RETURN_URL,
      ...(apiUrl === undefined ? {} : { apiUrl: new URL(apiUrl) }),
    },
    returnOrigins: originsOf(config),
  };
}

const pages = ['PAYMENT_PROVIDER_SUCCESS_URL', 'PAYMENT_PROVIDER_CANCEL_URL', 'PAYMENT_PROVIDER_RETURN_URL'] as const;

function addressProblems(config: BillingConfig): ConfigProblem[] {
  return pages.flatMap((name) => {
    const problem = addressProblem(config[name]);
    return problem === undefined ? [] : [{ name, problem }];
  });
}

function originProblems(config: BillingConfig): ConfigProblem[] {
  const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;
  if (originsOf(config).every(isOrigin)) return [];
  return [
    {
      name: 'PAYMENT_PROVIDER_RETURN_ORIGINS',
      problem: 'must be origins such as https://example.com, separated by commas',
    },
  ];
}

/** The API sends the key to the provider and to no other machine; another address is for tests. */
function apiProblems({ PAYMENT_PROVIDER_API_URL: text }: BillingConfig): ConfigProblem[] {
  if (text === undefined) return [];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' && isLoopback(url) && url.pathname === '/') return [];
  return [
    { name: 'PAYMENT_PROVIDER_API_URL', problem: 'must be http on this machine, such as http://127.0.0.1:12111' },
  ];
}

function originsOf({ PAYMENT_PROVIDER_RETURN_ORIGINS: text = '' }: BillingConfig): string[] {
  return text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}

import type { Stripe } from 'stripe';
import type { Clock } from '../../../lib/clock.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { halfJitter } from '../../../lib/backoff.ts';
import type { Logger } from '../../../lib/logger.ts';
import { tryPaced } from '../../../lib/retry.ts';

export interface CallsOptions {
  readonly secretKey: string;
  /** Default: the provider's own. */
  readonly apiUrl?: URL;
  /** Timeout of one attempt, with its answer's body. Default 8 s. */
  readonly attemptMs?: number;
}

export interface CallsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
}

/** Calls the provider. `operation` is what the log calls it; `call` is made anew for each attempt. */
export type ProviderCall = <T>(operation: string, call: (stripe: Stripe) => Promise<T>) => Promise<T>;

/** Attempts of one call, and the pauses between them. */
const attempts = 3;
const pauses = { baseMs: 250, maxMs: 2_000 };
/** No attempt begins later than this after the first; with the time of the last one it bounds a call. */
const beginMs = 12_000;

/**
 * The package is loaded at the first call. It retries nothing by itself: an attempt that did not reach the provider,
 * found it broken, or met a lock is made twice more. Every call that writes must therefore carry an idempotency key
 * of its own that does not change between attempts.
 */
export function createCall(options: CallsOptions, deps: CallsDeps): ProviderCall {
  const { clock, logger } = deps;
  const random = deps.random ?? Math.random;
  let loaded: Loaded | undefined;

  return async (operation, call) => {
    const { client, StripeError } = (loaded ??= await load(options));
    const last = clock.now() + beginMs;
    const pauseAfter = (error: unknown, attempt: number): number => {
      if (!(error instanceof StripeError)) throw error;
      // Neither message nor body: they may name a customer or show parts of the key.
      const { statusCode: status, type, code, requestId: providerRequestId } = error;
      logger.warn({ operation, attempt, status, type, code, providerRequestId }, 'payment provider call failed');
      if (attempt === attempts || !mayPass(error) || clock.now() >= last) throw answerTo(error);
      return halfJitter(pauses, attempt - 1, random());
    };
    return tryPaced({ clock, pauseAfter }, () => call(client));
  };
}

interface Loaded {
  readonly client: Stripe;
  readonly StripeError: typeof Stripe.errors.StripeError;
}

type StripeError = InstanceType<Loaded['StripeError']>;

async function load({ secretKey, apiUrl, attemptMs = 8_000 }: CallsOptions): Promise<Loaded> {
  const { default: Sdk } = await import('stripe');
  const client = new Sdk(secretKey, {
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: attemptMs,
    // Its time limit covers the whole answer; that of the other client starts anew with every packet.
    httpClient: Sdk.createFetchHttpClient((url, init) => fetch(url, { ...init, redirect: 'error' })),
    appInfo: { name: 'windlass' },
    ...(apiUrl === undefined ? {} : { protocol: 'http' as const, host: apiUrl.hostname, port: apiUrl.port }),
  });
  return { client, StripeError: Sdk.errors.StripeError };
}

/** Whether the same call may succeed in a moment; the provider's own word on it counts most. */
function mayPass({ type, statusCode, headers }: StripeError): boolean {
  const advice = headers?.['stripe-should-retry'];
  if (advice !== undefined) return advice === 'true';
  // 409: the same idempotency key is being worked on.
  return type === 'StripeConnectionError' || statusCode === 409 || (statusCode ?? 0) >= 500;
}

/** The message for our caller; the log holds the rest. */
function answerTo(error: StripeError): Error {
  if (error.type === 'StripeRateLimitError') {
    return new HttpError({
      code: 'unavailable',
      status: 503,
      error: 'payment_provider_busy',
      message: 'the payment provider takes no more requests at the moment; try again later',
    });
  }
  return new ProviderRefusal(error.code, error.param);
}

/** The provider refused, or was not reached. `providerCode` and `param` are its words, for those who expect one. */
export class ProviderRefusal extends HttpError {
  readonly providerCode: string | undefined;
  readonly param: string | undefined;

  constructor(providerCode?: string, param?: string) {
    super({
      code: 'unavailable',
      status: 502,
      error: 'payment_provider_error',
      message:
        'the payment provider did not carry out the request; try again, and if it lasts, the log of the API says why',
    });
    this.providerCode = providerCode;
    this.param = param;
  }
}

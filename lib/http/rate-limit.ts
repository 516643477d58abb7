import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { HttpError } from './http-error.ts';

/** Bounds how much one tenant may ask of one replica. */
export interface RateLimit {
  /** Counts a request; throws HttpError 429 when the tenant has had its share (requirements AMB-057). */
  take(tenant: string): Promise<void>;
}

/** So that a short burst above the rate is no offence. */
const windowSeconds = 10;

/** `perSecond` is a tenant's average over ten seconds; 0 means no limit. */
export function createRateLimit(perSecond: number): RateLimit {
  if (perSecond === 0) return { take: () => Promise.resolve() };
  const limiter = new RateLimiterMemory({ points: perSecond * windowSeconds, duration: windowSeconds });
  return {
    async take(tenant) {
      try {
        await limiter.consume(tenant);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        throw rateLimited(Math.ceil(refusal.msBeforeNext / 1000));
      }
    },
  };
}

const rateLimited = (seconds: number): HttpError =>
  new HttpError({
    code: 'limit_exceeded',
    status: 429,
    error: 'rate_limited',
    message: `this tenant has sent too many requests; try again in ${seconds} s`,
    headers: { 'Retry-After': String(Math.max(1, seconds)) },
  });

import { WindlassApiError, WindlassConnectionError } from './api-error.ts';

const firstPauseMs = 200;
const longestPauseMs = 5_000;
/** A server that asks for more patience than this is not waited for: the caller decides. */
const longestRetryAfterMs = 30_000;

/** The gateway statuses: another attempt may meet a server that is well. */
const passing = new Set([502, 503, 504]);

/** Facts of a call for the retry rule. */
interface Repeatability {
  /** Doing it twice is the same as doing it once: a read, or a call with an idempotency key. */
  readonly repeatable: boolean;
}

/**
 * How long to wait before the next attempt, or undefined when another makes no sense. A call that must not be done
 * twice is repeated only when the server says that it has not begun it (429). `random` is in [0, 1).
 */
export function pauseBefore(
  attempt: number,
  error: unknown,
  { repeatable }: Repeatability,
  random: number,
): number | undefined {
  const pause = backoff(attempt, random);
  if (error instanceof WindlassConnectionError) return repeatable ? pause : undefined;
  if (!(error instanceof WindlassApiError)) return undefined;
  const { status, retryAfterMs } = error;
  const mayRepeat = status === 429 || (repeatable && passing.has(status));
  if (!mayRepeat || (retryAfterMs ?? 0) > longestRetryAfterMs) return undefined;
  return Math.max(retryAfterMs ?? 0, pause);
}

/** Twice as long each time, with jitter, so that clients that failed together do not come back together. */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
  return whole / 2 + (whole / 2) * random;
}

import { AppError, type ErrorCode, messageOf, WaitError } from '../../errors.ts';
import { type BackoffLimits, halfJitter } from '../../backoff.ts';

/** The fate of a message after an attempt to handle it. */
export type DeliveryVerdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: number; readonly problem: string }
  | { readonly kind: 'dead'; readonly reason: string; readonly problem: string };

interface Attempt {
  /** 1 for the first delivery. */
  readonly number: number;
  /** Deliveries in all. */
  readonly most: number;
  readonly backoff: BackoffLimits;
  /** Between 0 and 1. */
  readonly random: number;
}

/** Whether another attempt can have another end. A new code fails to compile until it is here. */
const mends: Readonly<Record<ErrorCode, boolean>> = {
  invalid: false,
  unauthenticated: false,
  forbidden: false,
  not_found: false,
  already_exists: false,
  gone: false,
  limit_exceeded: false,
  terminal: false,
  conflict: true,
  timeout: true,
  unavailable: true,
  cancelled: true,
  wait: true,
  lost_leadership: true,
  internal: true,
};

/** Judges a failed attempt. The last one ends as a dead letter, whatever failed. */
export function judgeFailure(error: unknown, attempt: Attempt): DeliveryVerdict {
  const problem = messageOf(error);
  if (error instanceof AppError && !mends[error.code]) return { kind: 'dead', reason: error.reason, problem };
  if (attempt.number >= attempt.most) return { kind: 'dead', reason: 'AttemptsExhausted', problem };
  if (error instanceof WaitError) return { kind: 'again', afterMs: error.afterMs, problem };
  return { kind: 'again', afterMs: halfJitter(attempt.backoff, attempt.number - 1, attempt.random), problem };
}

/** A delivery beyond the last attempt: each of them ended with its process, and no handler could say so. */
export function judgeArrival({ number, most }: Pick<Attempt, 'number' | 'most'>): DeliveryVerdict | undefined {
  if (number <= most) return undefined;
  const problem = `${most} attempts ended without a word, as those of a process that crashed`;
  return { kind: 'dead', reason: 'AttemptsExhausted', problem };
}

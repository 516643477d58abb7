import type { Clock } from '../../../lib/clock.ts';
import { hasReason, messageOf } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/logger.ts';
import { doublingWhile, tryPaced } from '../../../lib/retry.ts';

/**
 * How long a SecurityContext may be gone: who replaces one deletes it first, as `kubectl replace --force` does. The start of an
 * execution waits as long for what it names.
 */
const returnMs = 10_000;

const pauses = { baseMs: 250, maxMs: 1_000 } as const;

interface ReturnDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * The answer of `read` under a SecurityContext that is there. Its caller makes no call meanwhile: nothing is granted by a context that
 * is gone. @throws AppError `SecurityContextNotFound` where it stays gone, what `read` throws, or the reason of `signal`.
 */
export async function underPresentContext<T>(deps: ReturnDeps, read: () => Promise<T>): Promise<T> {
  const { clock, logger, signal } = deps;
  const until = clock.steadyMs() + returnMs;
  const isGone = (error: unknown): boolean => hasReason(error, 'SecurityContextNotFound') && clock.steadyMs() < until;
  const doubling = doublingWhile(pauses, isGone);
  const pauseAfter = (error: unknown, failures: number): number => {
    const pauseMs = doubling(error, failures);
    if (failures === 1)
      logger.warn(
        { problem: messageOf(error), waitMs: returnMs },
        'conversation makes no call until its security context is back',
      );
    return pauseMs;
  };
  return tryPaced({ clock, pauseAfter, signal }, read);
}

import type { Clock } from '../../../lib/clock.ts';
import { startDeadline } from '../../../lib/deadline.ts';
import { AppError, messageOf } from '../../../lib/errors.ts';
import { isIdentityRefused } from '../../../lib/kube/index.ts';
import type { Logger } from '../../../lib/logger.ts';
import { doublingWhile, tryPaced } from '../../../lib/retry.ts';

interface PatienceDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends retries. */
  readonly signal: AbortSignal;
  /** Aborts where this replica is about to end: retries have a few seconds more then. Absent: they are not bounded by it. */
  readonly giveUp?: AbortSignal | undefined;
  /** Milliseconds of those last retries. @default 5,000 */
  readonly lastTriesMs?: number | undefined;
  /** Failures behind which the call is made again. @default where the bus or the API server is away, or that refuses our identity */
  readonly mayPass?: (error: unknown) => boolean;
}

/** Pauses while the bus is away. */
const retry = { baseMs: 100, maxMs: 2_000 } as const;
/** The next driver does what nothing stores: it finds the records before it. */
const usualLastTriesMs = 5_000;

/**
 * Makes a call of the event bus or of the API server, however long the bus is away or the server refuses our identity.
 * @throws the reason of `signal` where that aborts, and that of `giveUp` where the bus stays away from then on.
 */
export async function patiently<T>(deps: PatienceDeps, call: () => Promise<T>): Promise<T> {
  const { clock, logger, signal } = deps;
  const requireTime = lastTries(deps);
  const doubling = doublingWhile(retry, deps.mayPass ?? isAwayOrStranger);
  const pauseAfter = (error: unknown, failures: number): number => {
    const pauseMs = doubling(error, failures);
    requireTime();
    if (pauseMs >= retry.maxMs)
      logger.warn({ problem: messageOf(error) }, 'conversation waits for the event bus or the API server');
    return pauseMs;
  };
  return tryPaced({ clock, pauseAfter, signal }, call);
}

/** Any other answer of the bus or of the API server is an answer to the call. */
const isAwayOrStranger = (error: unknown): boolean =>
  isIdentityRefused(error) || (error instanceof AppError && error.code === 'unavailable');

/** Call after each failure. It throws the reason of `giveUp` where that has aborted and the last tries are over. */
function lastTries({ clock, giveUp, lastTriesMs = usualLastTriesMs }: PatienceDeps): () => void {
  let until = Number.POSITIVE_INFINITY;
  return () => {
    if (giveUp?.aborted !== true) return;
    until = Math.min(until, clock.steadyMs() + lastTriesMs);
    if (clock.steadyMs() >= until) throw giveUp.reason;
  };
}

/** As `patiently`, for so long at most. @throws the last error of the call where the time is over. */
export async function patientlyFor<T>(deps: PatienceDeps, ms: number, call: () => Promise<T>): Promise<T> {
  using patience = startDeadline(deps.clock, ms, deps.signal);
  let last: unknown;
  try {
    return await patiently({ ...deps, signal: patience.signal }, () =>
      call().catch((error: unknown) => {
        last = error;
        throw error;
      }),
    );
  } catch (error) {
    deps.signal.throwIfAborted();
    throw patience.signal.aborted ? (last ?? error) : error;
  }
}

import type { Clock } from '../../lib/clock.ts';
import { startDeadline } from '../../lib/deadline.ts';
import { AppError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';

interface PatienceDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends retries. */
  readonly signal: AbortSignal;
}

/** Pauses while the bus is away. */
const retry = { firstMs: 100, mostMs: 2_000 } as const;

/** Makes a call of the event bus, however long the bus is away. @throws the reason of the signal where that aborts. */
export async function patiently<T>({ clock, logger, signal }: PatienceDeps, call: () => Promise<T>): Promise<T> {
  for (let pauseMs: number = retry.firstMs; ; pauseMs = Math.min(pauseMs * 2, retry.mostMs)) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
      if (pauseMs >= retry.mostMs) logger.warn({ problem: error.message }, 'conversation waits for the event bus');
    }
    await clock.sleep(pauseMs, signal);
  }
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

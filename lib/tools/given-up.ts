import { AppError } from '../errors.ts';

const reason = 'CallGivenUp';

/** The reason of an abort by which the caller wants the effect of a call to stop, not the wait for its answer alone. */
export const givenUp = (code: 'cancelled' | 'timeout', message: string): AppError =>
  new AppError(code, message, { reason });

/** Whether the caller wants the effect of the call to stop. */
export const isGivenUp = (signal: AbortSignal): boolean =>
  signal.aborted && signal.reason instanceof AppError && signal.reason.reason === reason;

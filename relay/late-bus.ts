import type { EventBus } from '../lib/bus/index.ts';
import { AppError } from '../lib/errors.ts';
import { tryAgain } from '../lib/retry.ts';

const attempts = 5;

/** Whether a bus that is there did not answer in time: thousands of daemons that come at once keep the relay from hearing it. */
export const isLate = (bus: Pick<EventBus, 'problem'>, error: unknown): boolean =>
  error instanceof AppError && error.code === 'unavailable' && bus.problem() === undefined;

/**
 * Asks a bus again that is there and answers late. A refused stream or call has its daemon connect anew, which costs more than the
 * message. `attempt` does the same each time.
 */
export const patiently = <T>(bus: Pick<EventBus, 'problem'>, attempt: () => Promise<T>): Promise<T> =>
  tryAgain(attempts, (error) => isLate(bus, error), attempt);

import type { EventBus, Responder } from '../../../lib/bus/index.ts';
import { AppError } from '../../../lib/errors.ts';

/** As `EventBus.serve`; undefined where no event bus is configured: no command leaves then, and no news comes. */
export function serveOnBus(
  bus: Pick<EventBus, 'serve'>,
  ...asked: Parameters<EventBus['serve']>
): Responder | undefined {
  try {
    return bus.serve(...asked);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

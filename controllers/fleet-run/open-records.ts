import type { EventBus, Responder } from '../../lib/bus/index.ts';
import { AppError } from '../../lib/errors.ts';
import { openRecordsAddress, openRecordsPage, pageStart } from '../../lib/fleet/open-records.ts';
import type { RunSession } from './session.ts';

/** Answers requests for the outcomes of a run that are not stored yet, as long as this process drives the run. */
export const serveOpenRecords =
  (bus: Pick<EventBus, 'serve'>) =>
  (session: RunSession): void => {
    const responder = serve(bus, session);
    if (responder === undefined) return;
    const close = (): void => void responder.close(0);
    session.stop.signal.addEventListener('abort', close, { once: true });
  };

/** Undefined where no event bus is configured: no command leaves then. */
function serve(bus: Pick<EventBus, 'serve'>, session: RunSession): Responder | undefined {
  try {
    return bus.serve(openRecordsAddress(session.uid), async ({ body }) =>
      JSON.stringify(openRecordsPage(session.waiting.all, session.waiting.stored, pageStart(body))),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

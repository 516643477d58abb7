import type { EventBus, Responder } from '../../lib/bus/index.ts';
import { AppError } from '../../lib/errors.ts';
import { openRecordsAddress, openRecordsPage, pageStart } from '../../lib/fleet/open-records.ts';
import type { RunView } from './run-view.ts';

/** Answers requests for the outcomes of a run that are not stored yet, as long as this process drives the run. */
export const serveOpenRecords =
  (bus: Pick<EventBus, 'serve'>) =>
  (view: RunView): void => {
    const responder = serve(bus, view);
    if (responder === undefined) return;
    const close = (): void => void responder.close(0);
    view.signal.addEventListener('abort', close, { once: true });
  };

/** Undefined where no event bus is configured: no command leaves then. */
function serve(bus: Pick<EventBus, 'serve'>, view: RunView): Responder | undefined {
  try {
    return bus.serve(openRecordsAddress(view.uid), async ({ body }) =>
      JSON.stringify(openRecordsPage(view.waiting.all, view.waiting.stored, pageStart(body))),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return undefined;
    throw error;
  }
}

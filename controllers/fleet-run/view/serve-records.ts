import type { EventBus } from '../../../lib/bus/index.ts';
import { openRecordsAddress, openRecordsPage, pageStart } from '../../../lib/fleet/open-records.ts';
import type { RunView } from './run-view.ts';
import { serveOnBus } from './serve-on-bus.ts';

/** Answers requests for the outcomes of a run that are not stored yet, as long as this process drives the run. */
export const serveOpenRecords =
  (bus: Pick<EventBus, 'serve'>) =>
  (view: RunView): void => {
    const responder = serveOnBus(bus, openRecordsAddress(view.uid), async ({ body }) =>
      JSON.stringify(openRecordsPage(view.unstored.all, view.unstored.stored, pageStart(body))),
    );
    if (responder === undefined) return;
    const close = (): void => void responder.close(0);
    view.signal.addEventListener('abort', close, { once: true });
  };

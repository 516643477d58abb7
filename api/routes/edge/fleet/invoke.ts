import { defineRoute, type Route } from '../../../../lib/http/index.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { edgeCaller } from '../edge-caller.ts';
import { invokeFleet } from './contract.ts';
import { type EventPlace, endId, fromStart, readEventId } from './event-ids.ts';
import { fleetEvents } from './events.ts';
import type { FleetDeps } from './ports.ts';
import { startRun } from './start.ts';

/** spec 2 §4.5. Mistakes in the request are answered before the stream opens (AMB-102). */
export function createInvokeRoute(deps: FleetDeps): Route<Caller> {
  return defineRoute<typeof invokeFleet, Caller>(invokeFleet, async ({ body, headers, caller: asked, signal }) => {
    const caller = edgeCaller(asked, 'svc.edge.fleet.manage');
    const after = placeBehind(headers['last-event-id']);
    const run = await startRun(deps, { caller, body, key: headers['idempotency-key'] });
    // AMB-203.
    const { uid = '' } = run.metadata;
    const reply = { 'X-Fleet-Command-Id': uid };
    if (after === undefined) return { kind: 'no_content', headers: reply };
    const events = fleetEvents(deps, { tenant: caller.tenant, uid, after, signal });
    return { kind: 'events', events, headers: reply };
  });
}

/** The events that the client has; undefined where it has the last one. */
function placeBehind(lastEventId = ''): EventPlace | undefined {
  if (lastEventId === '') return fromStart;
  if (lastEventId === endId) return undefined;
  const place = readEventId(lastEventId);
  if (place !== undefined) return place;
  throw invalidField('header.last-event-id', 'is not the id of an event; leave it out to begin anew');
}

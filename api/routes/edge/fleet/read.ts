import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import type { QueryOf } from '../../../../lib/http/contract.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { timeCursor } from '../../../../lib/http/paging.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { newestPage } from '../../executions/list/page.ts';
import { edgeCaller } from '../edge-caller.ts';
import { listFleetRuns, readFleetRun } from './contract.ts';
import { locateRun } from './find-run.ts';
import type { FleetDeps } from './ports.ts';
import { outcomeOf, presentNode, presentRunSummary } from './present.ts';

type ReadDeps = Pick<FleetDeps, 'cluster' | 'records'>;

/** spec 2 §4.5, requirements EDGE-REST-36. */
export function createListRoute({ cluster: { fleetRuns } }: ReadDeps): Route<Caller> {
  return defineRoute<typeof listFleetRuns, Caller>(listFleetRuns, async ({ query, caller: asked }) => {
    const { tenant } = edgeCaller(asked, 'svc.edge.fleet.read');
    const page = { limit: query.limit, after: timeCursor.decode(query.cursor) };
    const { rows, next } = newestPage(fleetRuns.list(tenant), page, (run) => isWanted(run, query));
    return json({
      items: rows.map(presentRunSummary),
      next_cursor: next === undefined ? null : timeCursor.encode(next),
    });
  });
}

const isWanted = (run: FleetRun, { tool, outcome }: QueryOf<typeof listFleetRuns>): boolean =>
  (tool === undefined || run.spec.tool === tool) && (outcome === undefined || outcomeOf(run) === outcome);

/** spec 2 §4.5, requirements EDGE-REST-37. */
export function createReadRoute({ cluster: { fleetRuns }, records }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readFleetRun, Caller>(readFleetRun, async (request) => {
    const caller = edgeCaller(request.caller, 'svc.edge.fleet.read');
    const run = await locateRun(fleetRuns, caller, request.params.fleet_command_id);
    // Each host may take two tails.
    await request.reserve((run.status?.per_node_ref ?? []).reduce((sum, { bytes }) => sum + bytes, 0));
    return json({ ...presentRunSummary(run), per_node: (await records.perNode(run)).map(presentNode) });
  });
}

import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { hasTarget } from '../../../../lib/fleet/slim-fleet-run.ts';
import { fleetRuns } from '../../../../lib/kinds.ts';
import { findObject } from '../../../../lib/kube/index.ts';
import type { QueryOf } from '../../../../lib/http/contract.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { createTimeCursor } from '../../../../lib/http/paging.ts';
import { pageBytes, readPage } from '../../../../lib/http/read-page.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { notFound } from '../../not-found.ts';
import { timeKeyOf, newestPage } from '../../executions/list/page.ts';
import { edgeCaller } from '../edge-caller.ts';
import { unknownRun } from '../errors.ts';
import { listFleetRuns, readFleetRun } from './contract.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { answerRun } from './answer-run.ts';
import { locateRun } from './find-run.ts';
import type { FleetDeps } from './ports.ts';
import { isEnded, outcomeOf, presentRunSummary } from './present.ts';

const timeCursor = createTimeCursor('fleet-runs');

type ReadDeps = Pick<FleetDeps, 'cluster' | 'records' | 'kube'>;

/** spec 2 §4.5, requirements EDGE-REST-36. */
export function createListRoute({ cluster }: Pick<ReadDeps, 'cluster'>): Route<Caller> {
  return defineRoute<typeof listFleetRuns, Caller>(listFleetRuns, async (request) => {
    const { query } = request;
    const { tenant } = edgeCaller(request.caller, 'svc.edge.fleet.read');
    const page = { limit: query.limit, after: timeCursor.decode(query.cursor) };
    const { rows, next } = await newestPage(cluster.fleetRuns.list(tenant), page, (run) => isWanted(run, query));
    if (!rows.every(hasTarget)) await request.reserve(pageBytes);
    const { items, cutAfter } = await readPage(rows, async (run) => {
      const known = await withTarget(cluster.fleetRuns, run);
      return known && presentRunSummary(known);
    });
    const last = cutAfter === undefined ? next : timeKeyOf(cutAfter);
    return json({ items: [...items], next_cursor: last === undefined ? null : timeCursor.encode(last) });
  });
}

/** The run with its target, which is read where the cache has left it out; undefined where the run is gone. */
const withTarget = async (runs: Pick<Cluster['fleetRuns'], 'whole'>, run: FleetRun): Promise<FleetRun | undefined> =>
  hasTarget(run) ? run : runs.whole(run);

const isWanted = (run: FleetRun, { tool, outcome }: QueryOf<typeof listFleetRuns>): boolean =>
  (tool === undefined || run.spec.tool === tool) && (outcome === undefined || outcomeOf(run) === outcome);

/** spec 2 §4.5, requirements EDGE-REST-37. */
export function createReadRoute(deps: ReadDeps): Route<Caller> {
  return defineRoute<typeof readFleetRun, Caller>(readFleetRun, async (request) => {
    const caller = edgeCaller(request.caller, 'svc.edge.fleet.read');
    const found = await current(deps, await locateRun(deps.cluster.fleetRuns, caller, request.params.fleet_command_id));
    return answerRun(deps.records, found, request);
  });
}

/** The open outcomes are asked for first: what is stored meanwhile is in the run that is read after them. */
async function current({ kube, records, cluster }: ReadDeps, known: FleetRun) {
  const { name, namespace = '', uid = '' } = known.metadata;
  if (isEnded(known)) {
    const run = await withTarget(cluster.fleetRuns, known);
    if (run === undefined) throw notFound(unknownRun);
    return { run, open: [] };
  }
  const open = await records.open(uid);
  const run = await findObject(kube, fleetRuns, { name, namespace });
  if (run === undefined || run.metadata.uid !== uid) throw notFound(unknownRun);
  return { run, open };
}

import type { Clock } from '../../../lib/clock.ts';
import { newest } from '../../../lib/decision/update-execution.ts';
import { ExecutionError } from '../../../lib/execution/execution-error.ts';
import type { OutputReader } from '../../../lib/execution/output-reader.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { pageOf, type TimeKey, timeCursor } from '../../../lib/http/paging.ts';
import { goneText, listHumanApprovals, readHumanApproval } from './contract.ts';
import { type Pending, pendingOf } from './pending.ts';
import { presentListed, presentRequest } from './present.ts';

export interface ReadDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly outputs: OutputReader;
  readonly cluster: Pick<Cluster, 'executions'>;
}

export function createListRoute({ clock, cluster }: ReadDeps): Route<Caller> {
  return defineRoute<typeof listHumanApprovals, Caller>(listHumanApprovals, async ({ query, caller }) => {
    const now = clock.now();
    const pending = cluster.executions
      .listAsking(caller.tenant)
      .flatMap((execution) => pendingOf(execution, now) ?? []);
    const { rows, next } = pageOf(pending, byAge, { limit: query.limit, after: timeCursor.decode(query.cursor) });
    return json({
      pending_requests: rows.map(presentListed),
      ...(next !== undefined && { next_cursor: timeCursor.encode(next) }),
    });
  });
}

const byAge = {
  keyOf: ({ id, current }: Pending): TimeKey => ({ at: current.entered_at, id }),
  compare: (a: TimeKey, b: TimeKey): number => a.at.localeCompare(b.at) || a.id.localeCompare(b.id),
};

/** Asks the server, so that a request is gone on every replica as soon as it is decided on one. */
export function createReadRoute({ kube, clock, outputs, cluster }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readHumanApproval, Caller>(readHumanApproval, async ({ params, caller }) => {
    const id = params.id.toLowerCase();
    const known = await cluster.executions.asking(caller.tenant, id);
    const latest = known && (await newest(kube, known).catch(unlessDeleted));
    const pending = latest && pendingOf(latest, clock.now());
    if (pending?.id !== id) return json({ error: goneText });
    return json({ request: await presentRequest(outputs, pending) });
  });
}

function unlessDeleted(error: unknown): undefined {
  if (!(error instanceof ExecutionError && error.reason === 'Deleted')) throw error;
}

import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { Clock } from '../../lib/clock.ts';
import { commandIdOf, type EdgeOutcome, type RecentCommands } from '../../lib/edge/index.ts';
import { stateOfHost } from '../../lib/fleet/fleet-host.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { tryPaced } from '../../lib/retry.ts';
import { fleetRunLimits } from './limits.ts';
import type { NewsWriter } from './ports.ts';
import type { RunView } from './run-view.ts';

interface StandInDeps {
  readonly clock: Clock;
  readonly news: NewsWriter;
  /** The last commands of hosts, for people. */
  readonly recent: Pick<RecentCommands, 'ended'>;
}

/**
 * Reports how a command ended in place of its host; an answer of the host that was stored before counts instead. The outcome
 * counts when it comes back by the news. Never rejects.
 */
export async function reportResult(deps: StandInDeps, view: RunView, node: string, result: EdgeOutcome): Promise<void> {
  if (view.isSettled(node)) return;
  await publish(deps, view, node, result);
}

/** Repeats what was reported and did not come back: the log may have dropped it. */
export function reportAgain(deps: StandInDeps, view: RunView): void {
  const overdue = [...view.said.overdue(deps.clock.steadyMs() - fleetRunLimits.reportAgainMs)];
  for (const [node, result] of overdue) void publish(deps, view, node, result);
}

async function publish(deps: StandInDeps, view: RunView, node: string, result: EdgeOutcome): Promise<void> {
  const { news, clock, recent } = deps;
  view.said.noteSaying(node, result);
  const ids = { tenant: view.tenant, run: view.uid, node_id: node, command_id: commandIdOf(view.uid, node) };
  const at = new Date(clock.now()).toISOString();
  const pace = { clock, signal: view.signal, pauseAfter: () => fleetRunLimits.retryMs };
  try {
    await tryPaced(pace, () => news.report({ ...ids, kind: 'result', at, result }));
  } catch {
    // The view is closed.
    return;
  }
  view.said.noteTaken(node, clock.steadyMs());
  if (view.commands.sentAt(node) !== undefined) recent.ended({ ...ids, result, ended_at: at });
}

interface RevokedDeps extends StandInDeps {
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'getByUid'>;
}

/**
 * Ends the commands of hosts that were revoked meanwhile: no relay takes a result of them any more (spec 2 §3). A look takes
 * every host in flight, so a run looks once a second, however many turns it has.
 */
export function endRevoked(deps: RevokedDeps, view: RunView): void {
  for (const node of view.progress.open()) {
    if (view.isSettled(node) || !isRevoked(deps.hosts.getByUid(view.target(node).host_uid))) continue;
    const message = 'the host was revoked while it had the command, which may run on to its deadline';
    void reportResult(deps, view, node, { outcome: 'err', code: 'HostRevoked', message, exit_code: 0 });
  }
}

/** A host whose object is gone has no credential any more. */
const isRevoked = (host: EdgeHost | undefined): boolean =>
  host === undefined || host.metadata.deletionTimestamp !== undefined || stateOfHost(host) === 'Revoked';

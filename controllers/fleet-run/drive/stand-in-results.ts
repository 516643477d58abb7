import { type EdgeHost, edgeHostName } from '../../../crds/schema/edge-host.ts';
import { exponential } from '../../../lib/backoff.ts';
import { isBusFull } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { commandIdOf, type EdgeNews, type EdgeOutcome, type RecentCommands } from '../../../lib/edge/index.ts';
import type { FairPool } from '../../../lib/fair-pool.ts';
import { stateOfHost } from '../../../lib/fleet/fleet-host.ts';
import type { CacheReader } from '../../../lib/informer/index.ts';
import { edgeHosts } from '../../../lib/kinds.ts';
import { findObject, type KubeClient } from '../../../lib/kube/index.ts';
import { tryPaced } from '../../../lib/retry.ts';
import { fleetRunLimits } from '../limits.ts';
import type { RunView } from '../view/run-view.ts';

export interface NewsWriter {
  /** Reports a result in place of a host. Resolves once it is stored; it may be reported again. */
  report(news: Extract<EdgeNews, { readonly kind: 'result' }>): Promise<void>;
}

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
  const said = { ...ids, kind: 'result', at, result } as const;
  const pauseAfter = (error: unknown, failures: number): number => pauseOf(deps, view, error, failures);
  try {
    await tryPaced({ clock, signal: view.signal, pauseAfter }, () => news.report(said));
  } catch {
    if (!view.signal.aborted) view.endUnlogged(said);
    return;
  }
  view.said.noteTaken(node, clock.steadyMs());
  if (view.commands.sentAt(node) !== undefined) recent.ended({ ...ids, result, ended_at: at });
}

/** Throws where NATS has had no room for so long that the record of the run takes the outcome without the log. */
function pauseOf({ clock }: StandInDeps, view: RunView, error: unknown, failures: number): number {
  const { retryMs, unreachableMs, fullAgainMs } = fleetRunLimits;
  if (!isBusFull(error)) return retryMs;
  if (view.said.noteFull(clock.steadyMs()) >= unreachableMs) throw error;
  return exponential({ baseMs: retryMs, maxMs: fullAgainMs }, failures - 1);
}

interface RevokedDeps extends StandInDeps {
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'getByUid'>;
  readonly kube: Pick<KubeClient, 'get'>;
  /** Calls that are under way at one time, of all runs. */
  readonly launches: FairPool;
}

/**
 * Ends the commands of hosts that were revoked meanwhile: no relay takes a result of them any more (spec 2 §3). A look takes
 * every host in flight, so a run looks once a second, however many turns it has. The server is asked about each that the cache
 * calls revoked: a watch that begins anew at a server that is behind knows no host that is new.
 */
export function endRevoked(deps: RevokedDeps, view: RunView): void {
  for (const node of view.progress.open()) {
    if (view.isSettled(node) || !isRevoked(deps.hosts.getByUid(view.target(node).host_uid))) continue;
    if (view.commands.beginLook(node)) void endIfRevoked(deps, view, node).finally(() => view.commands.endLook(node));
  }
}

/** Never rejects: where the server does not answer, the next look asks again. */
async function endIfRevoked(deps: RevokedDeps, view: RunView, node: string): Promise<void> {
  const { tenant, signal, run } = view;
  const at = { namespace: run.metadata.namespace ?? '', name: edgeHostName(node) };
  try {
    const host = await deps.launches.run({ tenant, signal }, () => findObject(deps.kube, edgeHosts, at));
    if (host?.metadata.uid === view.target(node).host_uid && !isRevoked(host)) return;
  } catch {
    return;
  }
  const message = 'the host was revoked while it had the command, which may run on to its deadline';
  await reportResult(deps, view, node, { outcome: 'err', code: 'HostRevoked', message, exit_code: 0 });
}

/** A host whose object is gone has no credential any more. */
const isRevoked = (host: EdgeHost | undefined): boolean => host === undefined || stateOfHost(host) === 'Revoked';

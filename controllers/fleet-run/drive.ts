import type { Clock } from '../../lib/clock.ts';
import { commandIdOf, type EdgeOutcome } from '../../lib/edge/index.ts';
import type { FairPool } from '../../lib/fair-pool.ts';
import type { FleetDecision } from '../../lib/fleet/plan.ts';
import { launch } from './launch.ts';
import { fleetRunLimits } from './limits.ts';
import type { CommandLane, FleetCommand, NewsWriter } from './ports.ts';
import type { RunSession } from './session.ts';

export interface DriveDeps {
  readonly clock: Clock;
  readonly lane: CommandLane;
  readonly news: NewsWriter;
  /** Commands that are being handed over at one time, of all runs. */
  readonly launches: FairPool;
}

/**
 * Does what the plan decides: hands commands over, finds out about doubtful ones, cancels, and ends what is late. The
 * results come back by the news alone, so that they count in one order for every reader and after every restart.
 */
export async function drive(deps: DriveDeps, session: RunSession): Promise<FleetDecision> {
  const decision = session.progress.next(deps.clock.now());
  for (const node of decision.commands) {
    session.noteSent(node);
    void handOver(deps, session, node);
  }
  for (const node of decision.probes) await probe(deps, session, node);
  if (!session.isProbed) {
    session.isProbed = true;
    session.progress.record({ kind: 'probed' });
  }
  for (const node of decision.cancels) cancel(deps, session, node);
  for (const { node, outcome } of decision.expired) void say(deps, session, node, lateResult(session, node, outcome));
  return decision;
}

function commandOf({ run, uid, tenant, policy, target }: RunSession, node: string): FleetCommand {
  return {
    commandId: commandIdOf(uid, node),
    run: uid,
    tenant,
    target: target(node),
    tool: run.spec.tool,
    args: run.spec.args ?? {},
    securityContext: run.spec.security_context ?? 'default',
    deadlineSecs: policy.per_target_deadline_secs,
    author: run.spec.requested_by,
  };
}

/** Never rejects. */
async function handOver(deps: DriveDeps, session: RunSession, node: string): Promise<void> {
  const { signal: stop } = session.stop;
  const launched = await deps.launches
    .run({ tenant: session.tenant, signal: stop }, () =>
      launch(deps, { command: commandOf(session, node), stop, isCancelled: () => session.cancelled.has(node) }),
    )
    .catch(() => ({ kind: 'unsure' }) as const);
  if (stop.aborted) return;
  if (launched.kind === 'unsure') session.unsure.add(node);
  if (launched.kind === 'failed') await say(deps, session, node, launched.result);
}

/** A run that has stopped sends nothing more, and needs to know what was sent. */
async function probe({ lane }: DriveDeps, session: RunSession, node: string): Promise<void> {
  const isOurs = await lane.claim(commandOf(session, node));
  if (isOurs) session.noteNotStarted(node);
  else {
    session.noteSent(node);
    session.unsure.add(node);
  }
}

/** A cancellation that cannot be delivered ends by its time. */
function cancel({ lane, clock, launches }: DriveDeps, session: RunSession, node: string): void {
  session.cancelled.add(node);
  session.progress.record({ kind: 'cancel_sent', node, at: clock.now() });
  const reason = session.isCancelTaken ? 'the run was cancelled' : 'the run was halted by its failure policy';
  const entry = { tenant: session.tenant, signal: session.stop.signal };
  void launches.run(entry, () => lane.cancel(commandOf(session, node), reason)).catch(() => undefined);
}

function lateResult(session: RunSession, node: string, outcome: 'timed_out' | 'cancelled'): EdgeOutcome {
  if (session.unsure.has(node)) {
    const message = 'the command may have been sent, and the host gave no result';
    return { outcome: 'err', code: 'OutcomeUnknown', message, exit_code: 0 };
  }
  if (outcome === 'cancelled') return { outcome, reason: 'the host did not answer the cancellation' };
  return { outcome, deadline_ms: session.policy.per_target_deadline_secs * 1_000 };
}

/** Says how a command ended in place of its host; an answer of the host that was stored before counts instead. */
async function say({ news, clock }: DriveDeps, session: RunSession, node: string, result: EdgeOutcome): Promise<void> {
  if (session.said.has(node)) return;
  session.said.add(node);
  const ids = { tenant: session.tenant, run: session.uid, node_id: node, command_id: commandIdOf(session.uid, node) };
  const at = new Date(clock.now()).toISOString();
  while (!session.stop.signal.aborted) {
    try {
      return await news.publish({ ...ids, kind: 'result', at, result });
    } catch {
      await clock.sleep(fleetRunLimits.retryMs, session.stop.signal);
    }
  }
}

import type { Clock } from '../../lib/clock.ts';
import type { EdgeOutcome, RecentCommands } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { FairPool } from '../../lib/fair-pool.ts';
import type { FleetDecision } from '../../lib/fleet/plan.ts';
import { cancel } from './cancel.ts';
import { commandOf } from './command-of.ts';
import { type Launch, launch } from './launch.ts';
import type { CommandLane, NewsWriter } from './ports.ts';
import { say, sayAgain } from './say.ts';
import type { RunSession } from './session.ts';

export interface DriveDeps {
  readonly clock: Clock;
  readonly lane: CommandLane;
  readonly news: NewsWriter;
  readonly recent: Pick<RecentCommands, 'ended'>;
  /** Calls for commands that are under way at one time, of all runs. */
  readonly launches: FairPool;
  /** The same for cancellations. */
  readonly cancels: FairPool;
}

/**
 * Does what the plan decides: hands commands over, finds out about doubtful ones, cancels, and ends what is late. The
 * results come back by the news alone, so that they count in one order for every reader and after every restart.
 */
export async function drive(deps: DriveDeps, session: RunSession): Promise<FleetDecision> {
  const decision = session.progress.next(deps.clock.now());
  for (const node of decision.commands) handOver(deps, session, node);
  for (const node of decision.probes) await probe(deps, session, node);
  if (!session.isProbed) {
    session.isProbed = true;
    session.progress.record({ kind: 'probed' });
  }
  for (const node of decision.cancels) void cancel(deps, session, node);
  for (const { node, outcome } of decision.expired) void say(deps, session, node, lateResult(session, node, outcome));
  sayAgain(deps, session);
  return decision;
}

function handOver(deps: DriveDeps, session: RunSession, node: string): void {
  session.progress.record({ kind: 'launching', node });
  const launching = launchOne(deps, session, node).finally(() => session.launches.delete(node));
  session.launches.set(node, launching);
}

/** Never rejects. */
async function launchOne(deps: DriveDeps, session: RunSession, node: string): Promise<void> {
  const { signal: stop } = session.stop;
  const launched = await launch(deps, {
    command: commandOf(session, node),
    stop,
    mayBeSent: session.isResumed,
    turn: () => deps.launches.enter({ tenant: session.tenant, signal: stop }),
    isCancelled: () => session.cancelled.has(node),
    isOver: () => session.isSettled(node),
    onSend: () => session.noteSending(node),
  }).catch((): Launch => ({ kind: 'unsure' }));
  if (stop.aborted || launched.kind === 'left') return;
  if (launched.kind === 'failed') return void say(deps, session, node, launched.result);
  // The host has its whole deadline from now on.
  session.noteSent(node);
  if (launched.kind === 'unsure') session.unsure.add(node);
}

/** A run that has stopped sends nothing more, and needs to know what was sent. */
async function probe({ lane }: DriveDeps, session: RunSession, node: string): Promise<void> {
  if (await isUnclaimed(lane, session, node)) return session.noteNotStarted(node);
  session.noteSent(node);
  session.unsure.add(node);
}

async function isUnclaimed(lane: CommandLane, session: RunSession, node: string): Promise<boolean> {
  try {
    return await lane.claim(commandOf(session, node));
  } catch (error) {
    // The tenant may claim no more, and this command was not claimed before (`CommandLane.claim`).
    if (error instanceof AppError && error.code === 'limit_exceeded') return true;
    throw error;
  }
}

function lateResult(session: RunSession, node: string, outcome: 'timed_out' | 'cancelled'): EdgeOutcome {
  if (outcome === 'cancelled') return { outcome, reason: whyCancelled(session, node) };
  if (session.unsure.has(node)) {
    const message = 'the command may have been sent, and the host gave no result';
    return { outcome: 'err', code: 'OutcomeUnknown', message, exit_code: 0 };
  }
  return { outcome, deadline_ms: session.policy.per_target_deadline_secs * 1_000 };
}

/** Commands in flight when the run was cancelled end cancelled (spec 2 §3); the reason says what is not known (ADR 0101). */
function whyCancelled(session: RunSession, node: string): string {
  if (session.unreached.has(node))
    return 'the host went away and gave no result: the cancellation may not have reached it';
  if (session.unsure.has(node)) return 'the command may have been sent, and the host gave no result';
  return 'the host did not answer the cancellation';
}

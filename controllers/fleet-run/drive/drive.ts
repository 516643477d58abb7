import { isBusFull } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { EdgeOutcome, RecentCommands } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { FairPool } from '../../../lib/fair-pool.ts';
import { createLoopTurns, type LoopTurns } from '../../../lib/loop-turns.ts';
import type { FleetDecision } from '../../../lib/fleet/plan.ts';
import { tryPaced } from '../../../lib/retry.ts';
import type { CommandSender } from '../commands/command.ts';
import { fleetRunLimits } from '../limits.ts';
import type { RunView } from '../view/run-view.ts';
import { cancel } from './cancel.ts';
import { type Launch, launch } from './launch.ts';
import { outcomeUnknown, resultLost } from './outcome-unknown.ts';
import { type NewsWriter, reportAgain, reportResult } from './stand-in-results.ts';

export interface DriveDeps {
  readonly clock: Clock;
  readonly sender: CommandSender;
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
export async function drive(deps: DriveDeps, view: RunView): Promise<FleetDecision> {
  const decision = view.progress.next(deps.clock.steadyMs());
  const spend = createLoopTurns(fleetRunLimits.begunPerTurn);
  const areAll = await handOverAll(deps, view, decision.commands, spend);
  for (const node of decision.probes) await probe(deps, view, node);
  // An earlier process may have sent the others.
  if (areAll) view.noteProbed();
  for (const node of decision.cancels) {
    void cancel(deps, view, node);
    await spend(1);
  }
  for (const { node, outcome } of decision.expired) {
    void expire(deps, view, node, outcome);
    await spend(1);
  }
  reportAgain(deps, view);
  return decision;
}

/** False where some have to wait for the next decision: there are too many at one time, or news have stopped the run meanwhile. */
async function handOverAll(
  deps: DriveDeps,
  view: RunView,
  nodes: readonly string[],
  spend: LoopTurns,
): Promise<boolean> {
  for (const node of nodes) {
    if (view.signal.aborted || view.progress.isStopped || view.holdBack()) return false;
    handOver(deps, view, node);
    await spend(1);
  }
  return true;
}

function handOver(deps: DriveDeps, view: RunView, node: string): void {
  view.noteLaunching(node);
  view.commands.launch(
    node,
    launchOne(deps, view, node).finally(() => view.noteLaunched()),
  );
}

/** Never rejects. */
async function launchOne(deps: DriveDeps, view: RunView, node: string): Promise<void> {
  const stop = view.nextWait();
  const launched = await launch(deps, {
    command: view.commandOf(node),
    stop,
    mayBeSent: view.isResumed,
    newUntil: () => newUntil(deps.sender, view, node),
    turn: () => deps.launches.enter({ tenant: view.tenant, signal: stop }),
    isStopped: () => view.progress.isStopped,
    isOver: () => view.signal.aborted || view.isSettled(node),
    onSend: () => view.commands.noteSending(node, deps.clock.now()),
    onFull: () => view.commands.noteFull(deps.clock.steadyMs()) >= fullPatienceMs(view),
    onClaim() {
      view.commands.noteRoom();
      // The host of an earlier process's command may have answered meanwhile.
      if (view.progress.outcomeOf(node) === undefined) view.commands.noteClaimed(node);
    },
  }).catch((): Launch => ({ kind: 'unsure' }));
  if (view.signal.aborted || launched.kind === 'left') return;
  if (launched.kind === 'failed') return void reportResult(deps, view, node, launched.result);
  if (launched.kind === 'stopped') return noteStopped(deps, view, node);
  view.noteSent(node);
  if (launched.kind === 'unsure') view.commands.noteUnsure(node);
}

/** As long as a command that may have left waits for a bus that is slow. A run over many hosts waits so long once. */
export const fullPatienceMs = ({ policy }: RunView): number =>
  Math.max(policy.per_target_deadline_secs * 1_000, fleetRunLimits.unreachableMs);

/** `StopAfter` cancels nothing: to a host whose command has not left the run never came. */
function noteStopped(deps: DriveDeps, view: RunView, node: string): void {
  if (!view.progress.cancelsInFlight) return view.noteNotStarted(node);
  void reportResult(deps, view, node, { outcome: 'cancelled', reason: 'the run was stopped before the command left' });
}

/** A run that has stopped sends nothing more, and needs to know what was sent. */
async function probe({ sender }: DriveDeps, view: RunView, node: string): Promise<void> {
  if (await isUnclaimed(sender, view, node)) return view.noteNotStarted(node);
  view.noteSent(node);
  view.commands.noteUnsure(node);
}

const newUntil = async (sender: CommandSender, view: RunView, node: string): Promise<number | undefined> =>
  view.earlierClaims?.goodUntil(sender, view.commandOf(node), (other) => view.commandOf(other));

async function isUnclaimed(sender: CommandSender, view: RunView, node: string): Promise<boolean> {
  // Where the claims of earlier processes are lost, a new one shows nothing.
  if ((await newUntil(sender, view, node)) !== undefined) return false;
  try {
    return await sender.claim(view.commandOf(node));
  } catch (error) {
    // There is no room for a claim, and this command was not claimed before (`CommandSender.claim`).
    if (isBusFull(error) || (error instanceof AppError && error.code === 'limit_exceeded')) return true;
    throw error;
  }
}

/** Ends a host that is late. Never rejects. */
async function expire(deps: DriveDeps, view: RunView, node: string, outcome: 'timed_out' | 'cancelled'): Promise<void> {
  if (outcome === 'cancelled') return reportResult(deps, view, node, { outcome, reason: whyCancelled(view, node) });
  if (view.isSettled(node) || !view.commands.beginLook(node)) return undefined;
  try {
    const hasEnded = await hasEndedInRecord(deps, view, node);
    // A run that was cancelled meanwhile gives its hosts another outcome.
    if (!view.progress.cancelsInFlight) await reportResult(deps, view, node, lateResult(view, node, hasEnded));
  } catch {
    // The view is closed.
  } finally {
    view.commands.endLook(node);
  }
}

/** The log may have dropped the host's result before this process read it. Rejects where the view is closed. */
async function hasEndedInRecord({ clock, sender, launches }: DriveDeps, view: RunView, node: string): Promise<boolean> {
  const { tenant, signal } = view;
  const pace = { clock, signal, pauseAfter: () => fleetRunLimits.retryMs };
  const find = () => launches.run({ tenant, signal }, () => sender.recordOf(view.commandOf(node)));
  return (await tryPaced(pace, find))?.ended === true;
}

function lateResult(view: RunView, node: string, hasEnded: boolean): EdgeOutcome {
  if (hasEnded) return outcomeUnknown(resultLost);
  if (view.commands.isUnsure(node)) {
    return outcomeUnknown('the command may have been sent, and the host gave no result');
  }
  return { outcome: 'timed_out', deadline_ms: view.policy.per_target_deadline_secs * 1_000 };
}

/** Commands in flight when the run was cancelled end cancelled (spec 2 §3); the reason says what is not known (ADR 0101). */
function whyCancelled(view: RunView, node: string): string {
  if (view.commands.isUnreached(node))
    return 'the host went away and gave no result: the cancellation may not have reached it';
  if (view.commands.isUnsure(node)) return 'the command may have been sent, and the host gave no result';
  return 'the host did not answer the cancellation';
}

import type { Clock } from '../../../lib/clock.ts';
import { isUnsent, type RecentCommands } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { FairPool } from '../../../lib/fair-pool.ts';
import { fleetTimes } from '../../../lib/fleet/plan.ts';
import { tryPaced } from '../../../lib/retry.ts';
import type { CommandSender } from '../commands/command.ts';
import { fleetRunLimits } from '../limits.ts';
import type { RunView } from '../view/run-view.ts';
import { type NewsWriter, reportResult } from './stand-in-results.ts';

interface CancelDeps {
  readonly clock: Clock;
  readonly sender: Pick<CommandSender, 'cancel'>;
  readonly news: NewsWriter;
  readonly recent: Pick<RecentCommands, 'ended'>;
  /** Cancellations that are being handed over at one time, of all runs: none waits behind a command. */
  readonly cancels: FairPool;
}

/**
 * Cancels the command of a host: after the command itself, and again until the host answers. Where no cancellation can be
 * handed over in its time, the host is cancelled for the run, and the reason says what is not known (ADR 0101). Never rejects.
 */
export async function cancel(deps: CancelDeps, view: RunView, node: string): Promise<void> {
  if (!view.commands.beginCancel(node)) return;
  // A cancellation that overtakes its command means nothing to the host.
  await view.commands.launched(node);
  const wait = view.nextWait();
  if (await deliver(deps, view, { node, wait })) {
    view.noteCancelSent(node);
    return repeat(deps, view, { node, wait });
  }
  if (view.signal.aborted) return undefined;
  const reason = 'no cancellation reached the host within 15 s: the command may run on to its deadline';
  return reportResult(deps, view, node, { outcome: 'cancelled', reason });
}

/** A command that is cancelled, and what ends its waits. */
interface Cancelling {
  readonly node: string;
  readonly wait: AbortSignal;
}

/** False: the host could not be reached within the grace, or there is nothing to cancel any more. */
async function deliver(deps: CancelDeps, view: RunView, cancelling: Cancelling): Promise<boolean> {
  const { node, wait } = cancelling;
  const { clock } = deps;
  const begun = clock.steadyMs();
  const pauseAfter = (error: unknown): number => {
    const isLate = clock.steadyMs() - begun >= fleetTimes.cancelGraceMs;
    // While the bus is away nothing can be said either.
    if (isLate && !isBusAway(error)) throw error;
    return fleetRunLimits.retryMs;
  };
  try {
    return await tryPaced({ clock, signal: wait, pauseAfter }, async () => {
      if (view.signal.aborted || view.isSettled(node)) return false;
      await send(deps, view, cancelling);
      return true;
    });
  } catch {
    return false;
  }
}

/** The stream that took a cancellation may have broken off before the host had it. */
async function repeat(deps: CancelDeps, view: RunView, cancelling: Cancelling): Promise<void> {
  const { node, wait } = cancelling;
  for (;;) {
    await deps.clock.sleep(fleetRunLimits.cancelAgainMs, wait);
    if (view.signal.aborted || view.isSettled(node)) return;
    const isReached = await send(deps, view, cancelling).then(
      () => true,
      () => false,
    );
    view.commands.noteReached(node, isReached);
  }
}

function send({ sender, cancels }: CancelDeps, view: RunView, { node, wait }: Cancelling): Promise<void> {
  const entry = { tenant: view.tenant, signal: wait };
  return cancels.run(entry, async () => {
    // Its wait ends a moment after the view is closed.
    if (!view.signal.aborted) await sender.cancel(view.commandOf(node), view.cancelReason);
  });
}

const isBusAway = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'unavailable' && !isUnsent(error);

import type { Clock } from '../../lib/clock.ts';
import { isEdgeUnavailable, type RecentCommands } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { FairPool } from '../../lib/fair-pool.ts';
import { fleetTimes } from '../../lib/fleet/plan.ts';
import { tryPaced } from '../../lib/retry.ts';
import { commandOf } from './command-of.ts';
import { fleetRunLimits } from './limits.ts';
import type { CommandLane, NewsWriter } from './ports.ts';
import { say } from './say.ts';
import type { RunSession } from './session.ts';

interface CancelDeps {
  readonly clock: Clock;
  readonly lane: Pick<CommandLane, 'cancel'>;
  readonly news: NewsWriter;
  readonly recent: Pick<RecentCommands, 'ended'>;
  /** Cancellations that are being handed over at one time, of all runs: none waits behind a command. */
  readonly cancels: FairPool;
}

/**
 * Cancels the command of a host: after the command itself, and again until the host answers. Where no cancellation can be
 * handed over in its time, the host is cancelled for the run, and the reason says what is not known (ADR 0101). Never rejects.
 */
export async function cancel(deps: CancelDeps, session: RunSession, node: string): Promise<void> {
  if (session.cancelled.has(node)) return;
  session.cancelled.add(node);
  // A cancellation that overtakes its command means nothing to the host.
  await session.launches.get(node);
  if (await deliver(deps, session, node)) {
    session.progress.record({ kind: 'cancel_sent', node, at: deps.clock.now() });
    return repeat(deps, session, node);
  }
  if (session.stop.signal.aborted) return undefined;
  const reason = 'no cancellation reached the host within 15 s: the command may run on to its deadline';
  return say(deps, session, node, { outcome: 'cancelled', reason });
}

/** False: the host could not be reached within the grace, or there is nothing to cancel any more. */
async function deliver(deps: CancelDeps, session: RunSession, node: string): Promise<boolean> {
  const { clock } = deps;
  const { signal } = session.stop;
  const begun = clock.now();
  const pauseAfter = (error: unknown): number => {
    const isLate = clock.now() - begun >= fleetTimes.cancelGraceMs;
    // While the bus is away nothing can be said either.
    if (isLate && !isBusAway(error)) throw error;
    return fleetRunLimits.retryMs;
  };
  try {
    return await tryPaced({ clock, signal, pauseAfter }, async () => {
      if (signal.aborted || session.isSettled(node)) return false;
      await send(deps, session, node);
      return true;
    });
  } catch {
    return false;
  }
}

/** The stream that took a cancellation may have broken off before the host had it. */
async function repeat(deps: CancelDeps, session: RunSession, node: string): Promise<void> {
  const { signal } = session.stop;
  for (;;) {
    await deps.clock.sleep(fleetRunLimits.cancelAgainMs, signal);
    if (signal.aborted || session.isSettled(node)) return;
    try {
      await send(deps, session, node);
      session.unreached.delete(node);
    } catch {
      session.unreached.add(node);
    }
  }
}

function send({ lane, cancels }: CancelDeps, session: RunSession, node: string): Promise<void> {
  const entry = { tenant: session.tenant, signal: session.stop.signal };
  return cancels.run(entry, () => lane.cancel(commandOf(session, node), session.cancelReason));
}

const isBusAway = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'unavailable' && !isEdgeUnavailable(error);

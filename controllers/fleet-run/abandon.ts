import { fleetTimes } from '../../lib/fleet/plan.ts';
import { type DriveDeps, drive } from './drive.ts';
import { fleetRunLimits } from './limits.ts';
import type { RunSession } from './session.ts';

/**
 * Cancels what is in flight of a run whose object is deleted, and waits for its end, as long as a cancellation and its
 * answer may take. Never rejects.
 */
export async function abandon(deps: DriveDeps, session: RunSession): Promise<void> {
  const { clock } = deps;
  const { signal } = session.stop;
  session.cancelReason = 'the run was deleted';
  session.progress.record({ kind: 'cancel' });
  const until = clock.now() + 2 * fleetTimes.cancelGraceMs;
  while (!signal.aborted && clock.now() < until) {
    const decision = session.isCaughtUp ? await drive(deps, session).catch(() => undefined) : undefined;
    if (decision?.end !== undefined) return;
    await clock.sleep(fleetRunLimits.longestPauseMs, signal);
  }
}

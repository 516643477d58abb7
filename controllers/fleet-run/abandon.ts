import { type DriveDeps, drive } from './drive.ts';
import { fleetRunLimits } from './limits.ts';
import type { RunSession } from './session.ts';

/** The commands of a run that was deleted are not wanted any more. Twice is as once. */
export function cancelDeleted(session: RunSession): void {
  session.cancelReason = 'the run was deleted';
  session.progress.record({ kind: 'cancel' });
}

/**
 * Cancels what is in flight of a run whose object is deleted, and waits for its end, as long as a cancellation and its
 * answer may take. Never rejects.
 */
export async function abandon(deps: DriveDeps, session: RunSession): Promise<void> {
  const { clock } = deps;
  const { signal } = session.stop;
  cancelDeleted(session);
  const until = clock.now() + fleetRunLimits.leaveMs;
  while (!signal.aborted && clock.now() < until) {
    const decision = session.isCaughtUp ? await drive(deps, session).catch(() => undefined) : undefined;
    if (decision?.end !== undefined) return;
    await clock.sleep(fleetRunLimits.longestPauseMs, signal);
  }
}

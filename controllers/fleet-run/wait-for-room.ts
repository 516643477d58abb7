import type { FleetRunReason } from '../../crds/conditions.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { type FinishDeps, write } from './finish.ts';
import { statusWith } from './status.ts';

/** A run that waits for room is woken when it has some, and looks at its time alone. */
export const noRoom = {
  reason: 'WaitingForRoom' satisfies FleetRunReason,
  message:
    'the controllers have no room for the run: fleet runs of the tenant that are under way have its share of memory, or those of all tenants have all of it',
  againMs: 30_000,
};

/** Says in the status that a run which an earlier process has begun waits. It is woken when it has room (ADR 0164). */
export async function waitForRoom(
  deps: Pick<FinishDeps, 'kube' | 'runs' | 'clock'>,
  run: FleetRun,
): Promise<undefined> {
  const { reason, sent_since: since } = run.status ?? {};
  if (reason === noRoom.reason) return;
  // Commands may be in flight: the next process to drive the run has to know since when.
  const fields = since === undefined ? {} : { sent_since: since };
  const status = statusWith(run, deps.clock.now(), fields, noRoom);
  await write(deps, run, status);
}

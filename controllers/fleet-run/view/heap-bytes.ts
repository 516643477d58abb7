import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { completePolicy } from '../../../lib/fleet/policy.ts';
import type { FrozenTargets } from '../../../lib/fleet/run-record.ts';
import { fleetRunLimits } from '../limits.ts';

/** Bytes of heap of a view, measured and rounded up (`heap-bytes.test.ts`). */
const price = {
  /** The view itself: its object, its listeners, its timers and small arguments. */
  own: 32 * 1024,
  /** Each host, beside the texts of its ids and its name. */
  host: 400,
  /** A command that waits for its turn, or for its host. */
  launch: 4 * 1024,
  /** An outcome that no part has yet, without its output. */
  outcome: 1_792,
} as const;

/** The size of what a view is made of. */
export interface ViewSize {
  readonly hosts: number;
  /** Bytes of the targets as JSON, with the hosts that were skipped. */
  readonly targetBytes: number;
}

/** Bytes of heap that the view of a run may take, its output not counted: that has a pool of its own. */
export function heapBytesOf({ spec: { policy } }: Pick<FleetRun, 'spec'>, { hosts, targetBytes }: ViewSize): number {
  const { mode, max_concurrency: most } = completePolicy(policy);
  const inFlight = Math.min(hosts, mode === 'Sequential' ? 1 : most);
  const open = Math.min(hosts, inFlight + fleetRunLimits.recordsPerPart);
  const launches = Math.min(inFlight, fleetRunLimits.launchesPerRun);
  return price.own + hosts * price.host + targetBytes + launches * price.launch + open * price.outcome;
}

/** The size of targets that are fixed now. It is that of their blob: another leader finds the same, and needs no more room. */
export const sizeOfTargets = (targets: FrozenTargets): ViewSize => ({
  hosts: targets.resolved.length,
  targetBytes: Buffer.byteLength(JSON.stringify(targets)),
});

/** The size of those that were fixed before. */
export const sizeInStatus = ({ status }: FleetRun): ViewSize => ({
  hosts: status?.targets_ref?.nodes ?? 0,
  targetBytes: status?.targets_ref?.bytes ?? 0,
});

import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { Clock } from '../../../lib/clock.ts';
import { fleetRunLimits } from '../limits.ts';

export interface AgeDeps {
  readonly clock: Clock;
}

/** Caches may be behind the one who made a run beside its namespace and hosts. */
export const isNew = ({ clock }: AgeDeps, { metadata }: FleetRun): boolean =>
  clock.now() - Date.parse(metadata.creationTimestamp ?? '') < fleetRunLimits.unknownMs;

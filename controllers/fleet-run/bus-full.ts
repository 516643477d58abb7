import type { FleetRunReason } from '../../crds/conditions.ts';
import type { StatedReason } from './status.ts';

/** Why a run waits that has begun, while NATS takes neither claims of its commands nor results. */
export const busFull: StatedReason = {
  reason: 'BucketFull' satisfies FleetRunReason,
  message:
    'the event bus (NATS) has no room for commands and results of the run: it is tried again, and hosts without an outcome fail after their deadline',
};

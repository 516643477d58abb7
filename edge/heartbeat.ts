import { edgeLimits, millisecondsOf } from '../lib/edge/index.ts';
import type { Duration } from '../proto/generated/google/protobuf/duration.ts';

/** The interval that a server asks for, from one second to one hour; undefined where it asks for none. */
export function heartbeatMsOf(asked: Duration | undefined): number | undefined {
  const ms = millisecondsOf(asked);
  return ms === undefined ? undefined : Math.min(edgeLimits.heartbeatMostMs, Math.max(1_000, ms));
}

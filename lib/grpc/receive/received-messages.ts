import type { Clock } from '../../clock.ts';
import { createFairPool, type FairPool } from '../../fair-pool.ts';
import { grpcLimits } from '../limits.ts';
import { LateMessages } from './late-messages.ts';

interface ReceivedOptions {
  readonly clock: Clock;
  /** Bytes of large messages that are here and not handled yet, of all streams together. */
  readonly bytes: number;
  /** Aborts when nothing is received any more. */
  readonly stopping: AbortSignal;
  /** Default: `grpcLimits.wholeMs`. */
  readonly wholeMs?: number | undefined;
  /** Default: `grpcLimits.roomMs`. */
  readonly roomMs?: number | undefined;
  /** Default: `grpcLimits.arriving`. */
  readonly arriving?: number | undefined;
}

/** Bounds what the peers of a server have it keep before their messages are handled. */
export interface ReceivedMessages {
  /** Bytes of large messages; the tenants of streams share them. */
  readonly pool: FairPool;
  /** Requests without a tenant that pays for them; networks share the places. */
  readonly arriving: FairPool;
  readonly late: LateMessages;
}

export function createReceivedMessages(options: ReceivedOptions): ReceivedMessages {
  const { clock, bytes, stopping } = options;
  const { wholeMs, roomMs, arriving } = { ...grpcLimits, ...options };
  return {
    pool: createFairPool({ size: bytes, clock, waitMs: roomMs }),
    arriving: createFairPool({ size: arriving, clock }),
    late: new LateMessages({ clock, wholeMs, stopping }),
  };
}

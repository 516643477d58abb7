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
}

/** Bounds what the peers of a server have it keep before their messages are handled. */
export interface ReceivedMessages {
  /** Bytes of large messages; the tenants of streams share them. */
  readonly pool: FairPool;
  readonly late: LateMessages;
}

export function createReceivedMessages(options: ReceivedOptions): ReceivedMessages {
  const { clock, bytes, stopping, wholeMs = grpcLimits.wholeMs, roomMs = grpcLimits.roomMs } = options;
  return {
    pool: createFairPool({ size: bytes, clock, waitMs: roomMs }),
    late: new LateMessages({ clock, wholeMs, stopping }),
  };
}

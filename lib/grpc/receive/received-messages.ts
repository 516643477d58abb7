import type { Clock } from '../../clock.ts';
import { createFairPool, type FairPool } from '../../fair-pool.ts';
import { bytesOf } from '../../memory-budget/index.ts';
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
  /** Requests without a tenant that may be arriving at once. Default: the share of the process. */
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

/** One counts as as many as it has parts of `smallBytes`, and one more. Its headers may take twice their size as strings. */
const requestsAtOnce = (): number =>
  Math.floor(
    Math.min(
      bytesOf('requests of strangers') / grpcLimits.smallBytes,
      bytesOf('headers of strangers') / (2 * grpcLimits.headerBytes),
    ),
  );

export function createReceivedMessages(options: ReceivedOptions): ReceivedMessages {
  const { clock, bytes, stopping } = options;
  const { wholeMs, roomMs, arriving = requestsAtOnce() } = { ...grpcLimits, ...options };
  return {
    pool: createFairPool({ size: bytes, clock, waitMs: roomMs }),
    arriving: createFairPool({ size: arriving, clock }),
    late: new LateMessages({ clock, wholeMs, stopping }),
  };
}

import type { Clock } from '../../lib/clock.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { createTokenBuckets, type TokenBuckets } from '../../lib/token-buckets.ts';

/** Hosts, or keys of hosts, that a process counts; the longest unused one is forgotten first. */
const hostsMax = 20_000;

interface HostPace {
  /** At once, after a rest. */
  readonly burst: number;
  /** One more each interval from then on. */
  readonly intervalMs: number;
}

/** A pace for each host. Keys are node ids, uids, or keys of hosts. */
export const createHostPace = (clock: Pick<Clock, 'steadyMs'>, { burst, intervalMs }: HostPace): TokenBuckets =>
  createTokenBuckets({ burst, intervalMs, nowMs: () => clock.steadyMs(), keysMax: hostsMax });

/** @throws GrpcError `limit_exceeded` for a call that comes too soon; its text and a trailer say when to come back. */
export function takeOne(pace: TokenBuckets, key: string, problem: string): void {
  if (pace.take(key)) return;
  const seconds = Math.max(1, Math.ceil(Math.round(pace.waitMs(key)) / 1_000));
  throw new GrpcError('limit_exceeded', `${problem}; try again in ${seconds} s`, {
    metadata: { 'grpc-retry-pushback-ms': String(seconds * 1_000) },
  });
}

import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type PoolPart } from '../../lib/fair-pool.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { createHostPace, takeOne } from '../hosts/host-pace.ts';

/** The streams of a relay by tenant, from the proof of their token on, whether they have said Hello or not. */
export interface TenantStreams {
  /**
   * Counts one stream more, until it leaves.
   * @throws GrpcError `limit_exceeded` where the tenant has its share of the relay's streams.
   */
  enter(tenant: string): void;
  leave(tenant: string): void;
}

/** One tenant alone has four fifths of `max` streams, so that the hosts of another one find a place. */
export function createTenantStreams(max: number, clock: Clock): TenantStreams {
  const pool = createFairPool({ size: max, clock });
  /** One part of the pool for all streams of a tenant: no stream keeps one of its own. */
  const parts = new Map<string, PoolPart>();
  const hasPlace = (tenant: string, own: number): boolean => {
    const part = parts.get(tenant);
    if (part !== undefined) return part.growTo(own + 1);
    const first = pool.tryEnter({ tenant });
    if (first !== undefined) parts.set(tenant, first);
    return first !== undefined;
  };
  return {
    enter(tenant) {
      const own = pool.heldBy(tenant);
      if (hasPlace(tenant, own)) return;
      throw new GrpcError('limit_exceeded', `the ${own} streams of this tenant are its share of this relay; wait`);
    },
    leave(tenant) {
      const left = pool.heldBy(tenant) - 1;
      parts.get(tenant)?.shrinkTo(left);
      if (left === 0) parts.delete(tenant);
    },
  };
}

/** A daemon opens one stream at a time; others are left of connections that broke. */
const openingsMax = 4;
/**
 * Streams of one host: at once, and then one each interval. Each costs calls of the bus and of the API server. A daemon whose network
 * breaks has longer pauses of its own.
 */
export const openingPace = { burst: 16, intervalMs: 2_000 };

export interface Openings {
  /**
   * Counts a stream of the host until the answer is called.
   * @throws GrpcError `limit_exceeded` where four of them wait already, or for one that comes too soon.
   */
  enter(nodeId: string): () => void;
}

/**
 * Streams that have not said Hello, by host, and a pace for all of its streams at this relay (ADR 0169): those of one host take no room and
 * no calls from others.
 */
export function createOpenings(clock: Pick<Clock, 'steadyMs'>): Openings {
  const pace = createHostPace(clock, openingPace);
  const waiting = new Map<string, number>();
  return {
    enter(nodeId) {
      const count = waiting.get(nodeId) ?? 0;
      if (count >= openingsMax) {
        throw new GrpcError('limit_exceeded', `${openingsMax} streams of this host have not said hello yet; wait`);
      }
      takeOne(pace, nodeId, 'streams of this host are opened too often');
      waiting.set(nodeId, count + 1);
      return () => {
        const left = (waiting.get(nodeId) ?? 1) - 1;
        if (left === 0) waiting.delete(nodeId);
        else waiting.set(nodeId, left);
      };
    },
  };
}

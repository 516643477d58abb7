import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type PoolPart } from '../../lib/fair-pool.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';

/** The streams of a relay by tenant, from the proof of their token on, whether they have said Hello or not. */
export interface TenantStreams {
  /** @throws GrpcError `limit_exceeded` where the tenant has its share of the relay's streams. */
  enter(tenant: string): PoolPart;
}

/** One tenant alone has four fifths of `max` streams, so that the hosts of another one find a place. */
export function createTenantStreams(max: number, clock: Clock): TenantStreams {
  const pool = createFairPool({ size: max, clock });
  return {
    enter(tenant) {
      const place = pool.tryEnter({ tenant });
      if (place !== undefined) return place;
      const own = pool.heldBy(tenant);
      throw new GrpcError('limit_exceeded', `the ${own} streams of this tenant are its share of this relay; wait`);
    },
  };
}

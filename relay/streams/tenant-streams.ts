import { mayHold } from '../../lib/fair-pool.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';

/** The streams of a relay by tenant, from the proof of their token on, whether they have said Hello or not. */
export interface TenantStreams {
  /** @throws GrpcError `limit_exceeded` where the tenant has its share of the relay's streams. */
  enter(tenant: string): void;
  leave(tenant: string): void;
}

/** One tenant alone has four fifths of `max` streams, so that the hosts of another one find a place. */
export function createTenantStreams(max: number): TenantStreams {
  const held = new Map<string, number>();
  let all = 0;
  return {
    enter(tenant) {
      const own = held.get(tenant) ?? 0;
      if (!mayHold(own, max - all)) {
        throw new GrpcError('limit_exceeded', `the ${own} streams of this tenant are its share of this relay; wait`);
      }
      held.set(tenant, own + 1);
      all += 1;
    },
    leave(tenant) {
      const own = held.get(tenant) ?? 0;
      if (own === 0) return;
      if (own === 1) held.delete(tenant);
      else held.set(tenant, own - 1);
      all -= 1;
    },
  };
}

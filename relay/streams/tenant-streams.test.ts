import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import type { PoolPart } from '../../lib/fair-pool.ts';
import { createTenantStreams, type TenantStreams } from './tenant-streams.ts';

/** As many more streams as the tenant may open now. */
function fill(streams: TenantStreams, tenant: string): PoolPart[] {
  const places: PoolPart[] = [];
  for (;;) {
    try {
      places.push(streams.enter(tenant));
    } catch {
      return places;
    }
  }
}

describe('the streams of a relay', () => {
  it('are four fifths of one tenant at most, and what is left has shares again', () => {
    const streams = createTenantStreams(20_000, systemClock);
    const held = fill(streams, 'mallory');
    expect(held).toHaveLength(16_000);
    expect(() => streams.enter('mallory')).toThrow(
      'the 16000 streams of this tenant are its share of this relay; wait',
    );
    expect(fill(streams, 'ada')).toHaveLength(3_200);
    expect(fill(streams, 'grace')).toHaveLength(640);
    for (const place of [...held, ...held]) place.leave();
    expect(fill(streams, 'ada').length).toBeGreaterThan(10_000);
  });
});

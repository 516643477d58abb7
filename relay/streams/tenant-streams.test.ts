import { describe, expect, it } from 'vitest';
import { createTenantStreams, type TenantStreams } from './tenant-streams.ts';

/** How many more streams the tenant may open now. */
function fill(streams: TenantStreams, tenant: string): number {
  for (let count = 0; ; count += 1) {
    try {
      streams.enter(tenant);
    } catch {
      return count;
    }
  }
}

describe('the streams of a relay', () => {
  it('are four fifths of one tenant at most, and what is left has shares again', () => {
    const streams = createTenantStreams(20_000);
    expect(fill(streams, 'mallory')).toBe(16_000);
    expect(() => streams.enter('mallory')).toThrow(
      'the 16000 streams of this tenant are its share of this relay; wait',
    );
    expect(fill(streams, 'ada')).toBe(3_200);
    expect(fill(streams, 'grace')).toBe(640);
    for (let count = 0; count < 16_001; count += 1) streams.leave('mallory');
    expect(fill(streams, 'ada')).toBeGreaterThan(10_000);
  });
});

import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createTenantStreams, type TenantStreams } from './tenant-streams.ts';

/** As many more streams as the tenant may open now. */
function fill(streams: TenantStreams, tenant: string): number {
  for (let opened = 0; ; opened += 1) {
    try {
      streams.enter(tenant);
    } catch {
      return opened;
    }
  }
}

describe('the streams of a relay', () => {
  it('are four fifths of one tenant at most, and what is left has shares again', () => {
    const streams = createTenantStreams(20_000, systemClock);
    expect(fill(streams, 'mallory')).toBe(16_000);
    expect(() => streams.enter('mallory')).toThrow(
      'the 16000 streams of this tenant are its share of this relay; wait',
    );
    expect(fill(streams, 'ada')).toBe(3_200);
    expect(fill(streams, 'grace')).toBe(640);
    streams.leave('mallory');
    expect(fill(streams, 'mallory')).toBe(0);
    for (let left = 1; left < 16_000; left += 1) streams.leave('mallory');
    // A tenant without a stream begins anew, beside the 3,840 streams of the others.
    expect(fill(streams, 'mallory')).toBe(12_928);
  });
});

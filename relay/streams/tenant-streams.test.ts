import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createOpenings, createTenantStreams, openingPace, type TenantStreams } from './tenant-streams.ts';

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

describe('the streams of one host', () => {
  it('have a pace, which those that were refused do not slow down, and say when to come back', () => {
    let steady = 0;
    const openings = createOpenings({ steadyMs: () => steady });
    for (let opened = 0; opened < openingPace.burst; opened += 1) openings.enter('n')();
    for (let refused = 0; refused < 20; refused += 1) {
      expect(() => openings.enter('n')).toThrow('streams of this host are opened too often; try again in 2 s');
      steady += 50;
    }
    expect(() => openings.enter('n')).toThrow(
      expect.objectContaining({ options: { metadata: { 'grpc-retry-pushback-ms': '1000' } } }),
    );
    steady += 1_000;
    openings.enter('n')();
    expect(() => openings.enter('n')).toThrow('try again in 2 s');
  });

  it('that wait for their Hello are four, and a fifth takes nothing of the pace', () => {
    const openings = createOpenings({ steadyMs: () => 0 });
    const waiting = Array.from({ length: 4 }, () => openings.enter('n'));
    for (let more = 0; more < 100; more += 1) expect(() => openings.enter('n')).toThrow('4 streams');
    for (const leave of waiting) leave();
    openings.enter('n')();
  });
});

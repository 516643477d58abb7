import { afterAll, beforeAll, expect, it } from 'vitest';
import { edgeBuckets, type HeldStream } from '../../lib/edge/index.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { Entries } from './entries.ts';
import type { LiveStream } from './live-stream.ts';

let nats: TestBus;
beforeAll(async () => {
  nats = await startTestBus();
}, 60_000);
afterAll(() => nats.stop());

/** As many streams as four looks renew, which are a minute, and one more. */
const count = 2_001;
const lookMs = 15_000;

it('EDGE-FLOW-16 are all written again where the bus has lost more than a minute of looks can renew', {
  timeout: 120_000,
}, async () => {
  const clock = createManualClock();
  const bus = nats.connect();
  const entries = new Entries({ clock, bus, relayId: 'relay' }, () => undefined);
  // The store that was lost had higher revisions than a new one.
  const streams = Array.from({ length: count }, (_, at) => {
    const stream = {
      uid: `u${at}`,
      host: { tenant: `t${at % 50}` },
      facts: { nodeId: `n${at}`, streamId: `s${at}` },
      recent: [{ id: `s${at}`, at: new Date(clock.now()).toISOString() }],
      epoch: 1_000_000 + at,
      heldAt: clock.now(),
      held(epoch: number) {
        stream.epoch = epoch;
        stream.heldAt = clock.now();
      },
    };
    return stream;
  });
  for (let look = 0; look < 8; look += 1) {
    await clock.advance(lookMs);
    await entries.renewDue(streams as unknown as LiveStream[]);
  }
  expect(streams.filter(({ epoch }) => epoch >= 1_000_000)).toEqual([]);
  const bucket = bus.bucket<HeldStream>(edgeBuckets.streams);
  expect((await bucket.get(`u${count - 1}`))?.value.relay).toBe('relay');
  const written = streams.map(({ epoch }) => epoch);
  await clock.advance(4 * lookMs);
  await entries.renewDue(streams as unknown as LiveStream[]);
  expect(streams.map(({ epoch }) => epoch)).toEqual(written);
});

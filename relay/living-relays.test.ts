import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EventBus } from '../lib/bus/index.ts';
import { edgeBuckets, type HeldStream, type LivingRelay } from '../lib/edge/index.ts';
import { startTestBus, type TestBus } from '../test/nats/test-bus.ts';
import { LivingRelays } from './living-relays.ts';

let nats: TestBus;
let bus: EventBus;
let now: number;
let relays: LivingRelays;
let relayId: string;

beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
}, 60_000);
afterAll(() => nats.stop());
beforeEach(() => {
  now = 50_000;
  relayId = randomUUID();
  relays = new LivingRelays({ clock: { steadyMs: () => now }, bus, relayId });
});

const others = () => bus.bucket<LivingRelay>(edgeBuckets.relays);
const heldBy = (relay?: string): HeldStream => ({
  uid: 'host',
  at: '2026-01-01T00:00:00Z',
  ...(relay === undefined ? {} : { relay }),
});

/** Whether a look at this time finds that nothing holds the stream. */
async function looksGone(atMs: number, entry: HeldStream | undefined, uid = 'host'): Promise<boolean> {
  now = 50_000 + atMs;
  const look = await relays.look();
  const isGone = await look.isGone(uid, entry);
  look.end();
  return isGone;
}

describe('AMB-094 a relay', () => {
  it('is gone after two looks that are its 15 s apart, and not after one', async () => {
    const entry = heldBy(randomUUID());
    expect(await looksGone(0, entry)).toBe(false);
    expect(await looksGone(14_999, entry)).toBe(false);
    expect(await looksGone(15_000, entry)).toBe(true);
  });

  it('whose sign of life came late lives, and has its 15 s anew', async () => {
    const relay = randomUUID();
    const entry = heldBy(relay);
    expect(await looksGone(0, entry)).toBe(false);
    const revision = (await others().create(relay, { relay }, 'windlass')) ?? 0;
    expect(await looksGone(20_000, entry)).toBe(false);
    await others().delete(relay, revision);
    expect(await looksGone(40_000, entry)).toBe(false);
    expect(await looksGone(55_000, entry)).toBe(true);
  });

  it('is not gone for a time in which the store has lost the sign of the one that looks', async () => {
    const entry = heldBy(randomUUID());
    expect(await looksGone(0, entry)).toBe(false);
    const own = await others().get(relayId);
    await others().delete(relayId, own?.revision ?? 0);
    expect(await looksGone(20_000, entry)).toBe(false);
    expect(await looksGone(34_999, entry)).toBe(false);
    expect(await looksGone(35_000, entry)).toBe(true);
  });

  it('is gone after two looks that are its 15 s apart, also where the first has failed at another host', async () => {
    const entry = heldBy(randomUUID());
    expect(await (await relays.look()).isGone('host', entry)).toBe(false);
    expect(await looksGone(14_999, entry)).toBe(false);
    expect(await looksGone(15_000, entry)).toBe(true);
  });

  it('is forgotten by a look that ends without it', async () => {
    const entry = heldBy(randomUUID());
    expect(await looksGone(0, entry)).toBe(false);
    (await relays.look()).end();
    expect(await looksGone(20_000, entry)).toBe(false);
  });

  it('is gone at once where its streams are those of the one that looks, or have ended', async () => {
    expect(await looksGone(0, heldBy(relayId))).toBe(true);
    expect(await looksGone(0, heldBy())).toBe(true);
  });

  it('holds a stream whose entry the bus has lost for 90 s, in which it enters that again', async () => {
    const lost = randomUUID();
    expect(await looksGone(0, undefined, lost)).toBe(false);
    expect(await looksGone(89_999, undefined, lost)).toBe(false);
    expect(await looksGone(90_000, undefined, lost)).toBe(true);
    expect(await looksGone(90_000, undefined, randomUUID())).toBe(false);
  });

  it('is not gone for a time in which a look was impossible, or for a look before an outage of NATS', async () => {
    const entry = heldBy(randomUUID());
    expect(await looksGone(0, entry)).toBe(false);
    await nats.server.kill();
    await expect(looksGone(20_000, entry)).rejects.toMatchObject({ code: 'unavailable' });
    await nats.server.start();
    while (bus.problem() !== undefined) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await looksGone(30_000, entry)).toBe(false);
    expect(await looksGone(44_999, entry)).toBe(false);
    expect(await looksGone(45_000, entry)).toBe(true);
  }, 60_000);
});

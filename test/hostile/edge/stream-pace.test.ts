import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { openingPace } from '../../../relay/streams/tenant-streams.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import type { WireHost, WireStream } from '../../support/wire-daemon.ts';

let world: ProtocolWorld;
/** The steady clock of the relays stops until a test moves it. */
let steady: number;
beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
afterEach(async () => {
  vi.restoreAllMocks();
  await world.clear();
});

type Relay = TestRelay & { readonly client: Client };

function relayOfHeldClock(): Promise<Relay> {
  steady = systemClock.steadyMs();
  return world.relay({ clock: { ...world.clock, steadyMs: () => steady } });
}

const isOpen = (stream: WireStream): Promise<string> =>
  Promise.race([stream.ended, systemClock.sleep(300).then(() => 'open')]);

/** Takes the host over by another stream. */
async function takeOver(relay: Relay, host: WireHost): Promise<WireStream> {
  const stream = world.open(relay.client, host);
  stream.hello();
  const { hostUid } = await world.address(host);
  await vi.waitFor(() => expect(relay.streams.get(hostUid)?.facts.streamId).toBe(stream.streamId), { timeout: 10_000 });
  return stream;
}

it('EDGE-FLOW-29 AMB-095 a host that takes itself over has 16 streams at once, and then one in two seconds', async () => {
  const relay = await relayOfHeldClock();
  const [host, other] = [await world.enroll(relay.client), await world.enroll(relay.client)];
  let last = await takeOver(relay, host);
  for (let opened = 1; opened < openingPace.burst; opened += 1) {
    const next = await takeOver(relay, host);
    expect(await last.ended).toBe('ABORTED');
    last = next;
  }
  const find = vi.spyOn(world.hosts, 'find');
  const refused = world.open(relay.client, host);
  refused.hello();
  expect(await isOpen(refused)).toBe('RESOURCE_EXHAUSTED');
  expect(refused.details).toBe('streams of this host are opened too often; try again in 2 s');
  expect(find).not.toHaveBeenCalled();
  expect(await isOpen(last)).toBe('open');
  // Others, and another relay, have a pace of their own.
  await takeOver(relay, other);
  await takeOver(await world.relay(), host);
  steady += openingPace.intervalMs;
  await takeOver(relay, host);
  expect(await isOpen(world.open(relay.client, host))).toBe('RESOURCE_EXHAUSTED');
}, 60_000);

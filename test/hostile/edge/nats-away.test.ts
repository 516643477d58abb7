import { type Client, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { edgeLimits } from '../../../lib/edge/index.ts';
import { watchOver } from '../../../relay/watch-over.ts';
import { anyAddress, ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields } from '../../support/wire.ts';
import {
  attestation,
  call,
  challenge,
  codeOf,
  newKey,
  rawOf,
  type WireHost,
  type WireStream,
} from '../../support/wire-daemon.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let host: WireHost;
let stream: WireStream;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
  host = await world.enroll(relay.client);
  stream = await world.connected(relay.client, host);
});
afterEach(async () => {
  await world.nats.server.start();
  await world.clear();
});

const ok = field(3, field(1, Buffer.alloc(0)));
const result = (on: WireStream, commandId: string): void =>
  void on.send('commandResult', fields(field(2, commandId), ok));
const acknowledged = (on: WireStream): string[] => on.commands.flatMap((command) => command.message(11).texts(1));

/** A stream that holds, as soon as the bus is back; a daemon tries again as well. */
async function comesBack(): Promise<WireStream> {
  const end = performance.now() + 30_000;
  const { hostUid } = await world.address(host);
  for (;;) {
    const next = world.open(relay.client, host);
    next.hello();
    const held = vi.waitFor(() => {
      const { epoch = 0, facts } = relay.streams.get(hostUid) ?? {};
      if (facts?.streamId !== next.streamId || epoch === 0) throw new Error('not held');
    });
    const isHeld = await Promise.race([held.then(() => true), next.ended.then(() => false)]).catch(() => false);
    if (isHeld) return next;
    next.close();
    if (performance.now() > end) throw new Error('the stream does not come back');
    await systemClock.sleep(100);
  }
}

/** In the log of the daemon. */
const busAway = 'the relay cannot reach its event bus; come back later';

describe('NATS away', () => {
  it('EDGE-FLOW-11 a result that cannot be stored is not acknowledged; sent again, it is reported once', async () => {
    const claimed = await world.claim(host);
    await world.nats.server.kill();
    result(stream, claimed.commandId);
    const ended = await Promise.race([stream.ended, systemClock.sleep(20_000).then(() => 'open')]);
    expect(['UNAVAILABLE', 'open']).toContain(ended);
    expect(acknowledged(stream)).toEqual([]);
    await world.nats.server.start();
    const again = ended === 'open' ? stream : await comesBack();
    for (let time = 0; time < 2; time += 1) result(again, claimed.commandId);
    await vi.waitFor(() => expect(acknowledged(again).length).toBeGreaterThanOrEqual(2), { timeout: 20_000 });
    expect(await world.news(claimed, 1)).toMatchObject([{ kind: 'result', result: { outcome: 'ok' } }]);
  }, 60_000);

  it('no command is sent, no host enrolls, and no token is lost', async () => {
    const hostsBefore = [...world.hosts.known()].length;
    const key = newKey();
    const from = anyAddress();
    const attested = await call(relay.client, 'AttestNode', attestation(rawOf(key)), from);
    const token = await world.token();
    await world.nats.server.kill();
    const order = { commandId: 'c', run: 'r', tool: 'cmd.run', args: {}, context: 'd', token: 't', deadlineMs: 1_000 };
    await expect(world.commands.send(await world.address(host), order)).rejects.toMatchObject({ code: 'unavailable' });
    const attesting = call(relay.client, 'AttestNode', attestation(rawOf(key)), from);
    await expect(attesting).rejects.toMatchObject({ code: status.UNAVAILABLE, details: busAway });
    const request = challenge({ key, attested, token });
    const challenging = call(relay.client, 'ChallengeNode', request);
    await expect(challenging).rejects.toMatchObject({ code: status.UNAVAILABLE, details: busAway });
    expect(stream.commands).toEqual([]);
    await world.nats.server.start();
    await vi.waitFor(async () => expect(await codeOf(call(relay.client, 'ChallengeNode', request))).toBe('OK'), {
      timeout: 30_000,
      interval: 200,
    });
    expect([...world.hosts.known()]).toHaveLength(hostsBefore + 1);
  }, 60_000);

  it('for 10 s closes the streams of a relay, whose daemons come back to it once NATS is there', async () => {
    const over = new AbortController();
    const { bus, streams, relayId } = relay;
    const { staleMs } = edgeLimits;
    const deps = {
      clock: world.clock,
      logger: silentLogger,
      bus,
      hosts: world.hosts,
      streams,
      relayId,
      staleMs,
    };
    const watching = watchOver(deps, over.signal);
    await world.nats.server.kill();
    await vi.waitFor(() => expect(bus.problem()).toBeDefined(), { timeout: 20_000 });
    const isOpen = (): Promise<string> => Promise.race([stream.ended, systemClock.sleep(1_500).then(() => 'open')]);
    expect(await isOpen()).toBe('open');
    world.steadyAheadMs = 10_000;
    expect([await stream.ended, stream.details]).toEqual(['UNAVAILABLE', busAway]);
    await world.nats.server.start();
    const again = await comesBack();
    over.abort();
    await watching;
    // The sender has a connection of its own, which comes back by itself.
    const address = await world.address(host);
    await vi.waitFor(() => world.commands.drain(address), { timeout: 20_000, interval: 200 });
    await vi.waitFor(() => expect(again.commands.length).toBeGreaterThan(0), { timeout: 10_000 });
  }, 60_000);
});

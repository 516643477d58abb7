import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startManyDaemons } from '../../../dev/bench/edge/many-daemons.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';

/** As many as this test has time to enroll; `make bench` holds ten thousand (docs/benchmarks.md). */
const idleHosts = 500;
const kibibyte = 1_024;
/** The first heartbeats are spread over it: in an hour, one of them would come within seconds. */
const silentMs = 3_600_000_000;

let world: ProtocolWorld;
beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());

it(`${idleHosts} hosts of one tenant that say nothing after their Hello hold up no other one, and take little memory each`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-idle-'));
  const relay = await world.relay();
  const daemons = await startManyDaemons();
  try {
    const tokens = await Promise.all(Array.from({ length: idleHosts }, () => world.token('umbra')));
    await writeFile(join(folder, 'tokens'), tokens.join('\n'));
    await daemons.enroll(`127.0.0.1:${relay.listener.port}`, join(folder, 'tokens'));
    const before = process.memoryUsage().rss;
    await daemons.connect(idleHosts, silentMs);
    const open = (): number => relay.streams.counts().Connected;
    await vi.waitFor(() => expect(open()).toBe(idleHosts), { timeout: 60_000, interval: 100 });
    expect(process.memoryUsage().rss - before).toBeLessThan(idleHosts * 128 * kibibyte);
    const host = await world.enroll(relay.client);
    const stream = await world.connected(relay.client, host);
    const { hostUid } = await world.address(host);
    const heardBefore = relay.streams.get(hostUid)?.lastHeard ?? Number.NaN;
    stream.send('heartbeat', Buffer.alloc(0));
    await vi.waitFor(() => expect(relay.streams.get(hostUid)?.lastHeard).toBeGreaterThan(heardBefore));
    await world.commands.drain(await world.address(host));
    await vi.waitFor(() => expect(stream.commands).toHaveLength(1));
    const areWritten = (): void => {
      const connected = [...world.hosts.known()].filter(({ object }) => object.status?.status === 'Connected');
      expect(connected).toHaveLength(idleHosts + 1);
    };
    await vi.waitFor(areWritten, { timeout: 60_000, interval: 100 });
    // Silence for longer than a host may be silent: each idle one is written once, and the other one is not.
    const writes = world.hosts.writes();
    world.steadyAheadMs = 91_000;
    stream.send('heartbeat', Buffer.alloc(0));
    await vi.waitFor(() => expect(relay.streams.get(hostUid)?.lastHeard).toBeGreaterThan(heardBefore + 90_000));
    await relay.streams.checkHeartbeats();
    expect(relay.streams.counts()).toEqual({ Connected: 1, Unhealthy: idleHosts });
    expect(world.hosts.writes() - writes).toBe(idleHosts);
    expect((await world.status(host))?.status).toBe('Connected');
  } finally {
    await daemons.stop();
    await rm(folder, { recursive: true });
  }
}, 180_000);

import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { edgeBuckets, edgeLimits, type LivingRelay } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { watchOver } from '../../../relay/watch-over.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import type { WireHost } from '../../support/wire-daemon.ts';

let world: ProtocolWorld;
let relay: TestRelay & { readonly client: Client };
let host: WireHost;

beforeAll(async () => {
  world = await ProtocolWorld.start();
}, 60_000);
afterAll(() => world.stop());
beforeEach(async () => {
  relay = await world.relay();
  host = await world.enroll(relay.client);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.clear();
});

const away = new AppError('unavailable', 'the API server is away');

describe('an API server that is away', () => {
  it('AMB-094 the state of a host that could not be written at its Hello is written at a heartbeat', async () => {
    const write = vi.spyOn(world.hosts, 'write').mockRejectedValue(away);
    const stream = world.open(relay.client, host);
    stream.hello();
    await vi.waitFor(() => expect(write).toHaveBeenCalled());
    stream.heartbeat();
    await systemClock.sleep(100);
    expect((await world.status(host))?.status).toBe('Disconnected');
    write.mockRestore();
    stream.heartbeat();
    await world.becomes(host, 'Connected');
  });

  it('EDGE-FLOW-17 a host that is silent is Unhealthy as soon as that can be written', async () => {
    await world.connected(relay.client, host);
    const write = vi.spyOn(world.hosts, 'write').mockRejectedValue(away);
    world.steadyAheadMs = 90_001;
    await relay.streams.checkHeartbeats();
    expect((await world.status(host))?.status).toBe('Connected');
    write.mockRestore();
    await relay.streams.checkHeartbeats();
    expect((await world.status(host))?.status).toBe('Unhealthy');
  });

  it('a relay whose API server does not answer still says that it lives', async () => {
    await world.connected(relay.client, host);
    const { bus, streams, relayId } = relay;
    const { staleMs } = edgeLimits;
    const alive = bus.bucket<LivingRelay>(edgeBuckets.relays);
    const answer = Promise.withResolvers<undefined>();
    const find = vi.spyOn(world.hosts, 'find').mockReturnValue(answer.promise);
    world.steadyAheadMs = 90_001;
    const over = new AbortController();
    // A tick of a second takes 10 ms.
    const sleep = (ms: number, by?: AbortSignal): Promise<void> => systemClock.sleep(ms / 100, by);
    const clock = { ...world.clock, sleep };
    const deps = { clock, logger: silentLogger, bus, hosts: world.hosts, streams, relayId, staleMs };
    const watching = watchOver(deps, over.signal);
    await vi.waitFor(() => expect(find).toHaveBeenCalled());
    const first = await vi.waitFor(async () => {
      const entry = await alive.get(relayId);
      if (entry === undefined) throw new Error('no sign of life');
      return entry;
    });
    await vi.waitFor(async () => expect((await alive.get(relayId))?.revision).toBeGreaterThan(first.revision));
    answer.resolve(undefined);
    over.abort();
    await watching;
  });
});

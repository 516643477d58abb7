import type { Client } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { edgeBuckets, edgeLimits, type LivingRelay } from '../../../lib/edge/index.ts';
import { AppError } from '../../../lib/errors.ts';
import type { StoredHost } from '../../../relay/hosts/host-store.ts';
import { watchOver } from '../../../relay/watch-over.ts';
import { ProtocolWorld } from '../../contract/edge-protocol/protocol-world.ts';
import { holdSleeps } from '../../support/held-clock.ts';
import { silentLogger } from '../../support/silent-logger.ts';
import type { TestRelay } from '../../support/test-relay.ts';
import { field, fields } from '../../support/wire.ts';
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

const claimedResult = (commandId: string) => fields(field(2, commandId), field(3, field(1, Buffer.alloc(0))));

describe('an API server that hangs', () => {
  /** How long a read has, and how long it waits for its turn. */
  const readMs = 8_000;

  it('is asked for few hosts of a tenant at a time, whose daemons are to come back, and another tenant has its turn', async () => {
    const { clock, pass } = holdSleeps(world.clock, readMs);
    const { client } = await world.relay({ clock });
    const release = world.hosts.holdNews();
    const unknown = await Promise.all(Array.from({ length: 120 }, () => world.enroll(client, 'umbra')));
    const other = await world.enroll(client);
    const find = world.hosts.find.bind(world.hosts);
    let asked = 0;
    vi.spyOn(world.hosts, 'find').mockImplementation((tenant, nodeId) => {
      if (tenant !== 'umbra') return find(tenant, nodeId);
      asked += 1;
      return new Promise(() => undefined);
    });
    const stuck = unknown.map((one) => world.open(client, one));
    for (const stream of stuck) stream.hello();
    await systemClock.sleep(1_000);
    expect(asked).toBeLessThan(64);
    await world.connected(client, other);
    // A place that is free again may be taken by one that waited for it.
    const passing = setInterval(() => pass(readMs), 50);
    expect(new Set(await Promise.all(stuck.map(({ ended }) => ended)))).toEqual(new Set(['UNAVAILABLE']));
    clearInterval(passing);
    vi.restoreAllMocks();
    release();
    for (const one of unknown.slice(0, 3)) await world.connected(client, one);
  }, 60_000);

  it('EDGE-FLOW-11 holds up the result of a host for ten seconds at most, and the heartbeats behind it', async () => {
    const sleep = (ms: number, by?: AbortSignal) => systemClock.sleep(ms === 10_000 ? 2_000 : ms, by);
    const own = await world.relay({ clock: { ...world.clock, sleep } });
    const claimed = await world.claim(host);
    vi.spyOn(world.hosts, 'find').mockReturnValue(new Promise(() => undefined));
    const stream = world.open(own.client, host);
    stream.hello();
    stream.send('commandResult', claimedResult(claimed.commandId));
    expect(await world.news(claimed, 1)).toMatchObject([{ kind: 'result', result: { outcome: 'ok' } }]);
    // The next one does not wait again.
    const next = await world.claim(host);
    const began = performance.now();
    stream.send('commandResult', claimedResult(next.commandId));
    const acks = () => stream.commands.flatMap((command) => command.message(11).texts(1));
    await vi.waitFor(() => expect(acks()).toContain(next.commandId), { timeout: 10_000 });
    expect(performance.now() - began).toBeLessThan(1_900);
  }, 30_000);
});

describe('the memory of a relay that is behind', () => {
  const revoked = (stored: StoredHost): StoredHost => ({
    ...stored,
    object: { ...stored.object, spec: { ...stored.object.spec, revoked: true } },
  });

  it('EDGE-FLOW-18 revokes no host: the server is asked before a daemon is sent away for good', async () => {
    const stored = await world.hosts.find('acme', host.nodeId);
    if (stored === undefined) throw new Error('the host is stored');
    vi.spyOn(world.hosts, 'cached').mockReturnValue(revoked(stored));
    await world.connected(relay.client, host);
    const find = vi.spyOn(world.hosts, 'find').mockRejectedValue(away);
    const stream = world.open(relay.client, host);
    stream.hello();
    expect(await stream.ended).toBe('UNAVAILABLE');
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('EDGE-FLOW-18 asks once about a host that is revoked', async () => {
    world.hosts.revoke('acme', host.nodeId);
    await world.becomes(host, 'Revoked');
    const find = vi.spyOn(world.hosts, 'find');
    for (let turn = 0; turn < 5; turn += 1) {
      const stream = world.open(relay.client, host);
      expect(await stream.ended).toBe('PERMISSION_DENIED');
    }
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('EDGE-FLOW-18 ends no stream of a host that the server has', async () => {
    const stream = await world.connected(relay.client, host);
    world.hosts.lose('acme', host.nodeId);
    expect(await Promise.race([stream.ended, systemClock.sleep(500)])).toBeUndefined();
    vi.spyOn(world.hosts, 'find').mockRejectedValueOnce(away);
    world.hosts.lose('acme', host.nodeId);
    expect(await stream.ended).toBe('UNAVAILABLE');
    const again = world.open(relay.client, host);
    again.hello();
    await vi.waitFor(() => expect(relay.streams.counts().Connected).toBe(1), { timeout: 10_000 });
    world.hosts.remove('acme', host.nodeId);
    expect(await again.ended).toBe('PERMISSION_DENIED');
  });
});

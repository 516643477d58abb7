import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { generateKeyPairSync } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { BusConfig } from '../../../lib/bus/bus-config.ts';
import { startTestBus } from '../../../test/nats/test-bus.ts';
import { claimCommands } from '../../../test/support/claimed-commands.ts';
import { FleetServer, startFleetController } from '../../../test/support/fleet-controller.ts';
import { hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';

/** 1 MiB has room for 54 blocks of 64 commands. */
const config: Partial<BusConfig> = { WINDLASS_KEYS_MAX_MB: 1 };
const block = 64;
const { privateKey: edgeKey } = generateKeyPairSync('ed25519');
const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 50 });

it('EDGE-RES-28 a fleet run of a tenant without commands waits where others have the room, and runs when it is back', {
  timeout: 120_000,
}, async () => {
  const nats = await startTestBus();
  const bus = nats.connect(config);
  await expect.poll(() => bus.problem(), { timeout: 30_000 }).toBeUndefined();
  // As much as each of them may have beside those before it.
  for (const [tenant, blocks] of [
    ['a', 43],
    ['b', 8],
    ['c', 2],
  ] as const)
    await claimCommands(bus, tenant, blocks * block);
  const hosts = hostsNamed(2 * block);
  const peer = await startRelayPeer(bus, hosts, async () => ({ outcome: 'ok', exit_code: 0, duration_ms: 5 }));
  const server = new FleetServer({ policy: { max_concurrency: 64 } });
  const process = startFleetController({ bus: nats.connect(config), edgeKey, server, hosts });
  await soon(() => expect(server.status).toMatchObject({ phase: 'Pending', reason: 'BucketFull' }));
  expect(server.status.message).toContain('commands of other tenants have the room');
  expect(peer.invokes).toEqual([]);
  const connection = await connect({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  for await (const { config: stream } of streams.list()) {
    if (stream.subjects?.some((subject) => subject.startsWith('windlass.keys.')) === true)
      await streams.purge(stream.name);
  }
  await connection.close();
  process.wake();
  await soon(() => expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: hosts.length } }));
  await process.kill();
  await nats.stop();
});

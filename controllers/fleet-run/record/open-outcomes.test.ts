import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCommandToken } from '../../../lib/edge/index.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import {
  type FleetProcess,
  FleetServer as Server,
  perNodeOf,
  startFleetController,
} from '../../../test/support/fleet-controller.ts';
import { hostsNamed, type RelayPeer, startRelayPeer } from '../../../test/support/relay-peer.ts';
import { fleetRunLimits } from '../limits.ts';

const { privateKey: edgeKey, publicKey } = generateKeyPairSync('ed25519');
const patience = { timeout: 20_000, interval: 50 };
const ok = { outcome: 'ok', exit_code: 0, duration_ms: 5 } as const;
const failed = { outcome: 'err', code: 'CommandFailed', message: 'no', exit_code: 3 } as const;

let nats: TestBus;
const open: FleetProcess[] = [];
beforeEach(async () => void (nats = await startTestBus()), 60_000);
afterEach(async () => {
  await Promise.all(open.splice(0).map((process) => process.kill()));
  await nats.stop();
}, 60_000);

function start(server: Server, hosts: Parameters<typeof startFleetController>[0]['hosts']): FleetProcess {
  const process = startFleetController({ bus: nats.connect(), edgeKey, server, hosts });
  open.push(process);
  return process;
}

/** Does something to each stream of the server. */
async function eachStream(
  task: (streams: Awaited<ReturnType<typeof jetstreamManager>>['streams'], name: string) => Promise<unknown>,
) {
  const connection = await connectNats({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  const names: string[] = [];
  for await (const { config } of streams.list()) names.push(config.name);
  for (const name of names) await task(streams, name);
  await connection.close();
}

/** The log of results has dropped all that it had. */
const trimLog = () =>
  eachStream(async (streams, name) => void (name.includes('edge_results') && (await streams.purge(name))));

/** NATS has lost its store; the relay has its streams again afterwards. */
async function loseStore(peer: RelayPeer, hosts: Parameters<RelayPeer['hold']>[0]): Promise<void> {
  await eachStream((streams, name) => streams.delete(name));
  await vi.waitFor(() => peer.hold(hosts), patience);
}

/** The host that got the last command says that it has ended. */
async function lastEnds(peer: RelayPeer): Promise<void> {
  const invoke = peer.invokes.at(-1);
  if (invoke !== undefined) await peer.say(invoke, ok);
}

/** A run of three hosts whose process is killed while the last one is in flight and the others are ok. */
async function killedWithOneInFlight() {
  const hosts = hostsNamed(3);
  const peer = await startRelayPeer(nats.connect(), hosts, async (_, node) => (node.endsWith('2') ? undefined : ok));
  const server = new Server({ policy: { per_target_deadline_secs: 600 } });
  const first = start(server, hosts);
  await vi.waitFor(() => expect(server.status).toMatchObject({ in_flight: 1, summary: { ok: 2 } }), patience);
  await first.kill();
  return { hosts, peer, server };
}

const sentTo = (peer: RelayPeer): string[] => [...peer.invoked].sort();

describe('outcomes that a status has reported', () => {
  it('EDGE-RES-26 stay as they were where the log has dropped them before another process leads', async () => {
    const hosts = hostsNamed(4);
    const peer = await startRelayPeer(nats.connect(), hosts, async (_, node) =>
      node.endsWith('3') ? undefined : node.endsWith('2') ? failed : ok,
    );
    const server = new Server({ policy: { per_target_deadline_secs: 600, failure_policy: { StopAfter: 2 } } });
    const first = start(server, hosts);
    await vi.waitFor(() => expect(server.status.summary).toMatchObject({ ok: 2, err: 1 }), patience);
    await first.kill();
    await trimLog();
    const second = start(server, hosts);
    await vi.waitFor(() => expect(peer.invokes.length).toBe(5), patience);
    await lastEnds(peer);
    await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), patience);
    expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 3, err: 1, not_started: 0 } });
    expect(server.status.open_outcomes).toBeUndefined();
    // The host in flight alone got its command again.
    expect(sentTo(peer)).toEqual(['n00000', 'n00001', 'n00002', 'n00003', 'n00003']);
    const perNode = [...(await perNodeOf(server))].sort((a, b) => (a.node_id < b.node_id ? -1 : 1));
    expect(perNode).toMatchObject([
      { node_id: 'n00000', outcome: 'ok', exit_code: 0 },
      { node_id: 'n00001', outcome: 'ok', exit_code: 0 },
      { node_id: 'n00002', outcome: 'err', exit_code: 3, code: 'DetailsLost' },
      { node_id: 'n00003', outcome: 'ok', exit_code: 0 },
    ]);
    await second.kill();
  }, 90_000);

  it('EDGE-RES-29 have their details where the log has them still', async () => {
    const hosts = hostsNamed(2);
    const peer = await startRelayPeer(nats.connect(), hosts, async (_, node) =>
      node.endsWith('1') ? undefined : failed,
    );
    const server = new Server({ policy: { per_target_deadline_secs: 600 } });
    const first = start(server, hosts);
    await vi.waitFor(() => expect(server.status.summary?.err).toBe(1), patience);
    await first.kill();
    start(server, hosts);
    await vi.waitFor(() => expect(peer.invokes.length).toBe(3), patience);
    await lastEnds(peer);
    await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), patience);
    expect((await perNodeOf(server))[0]).toMatchObject({ code: 'CommandFailed', stdout_tail: 'out of n00000' });
  }, 90_000);

  it('EDGE-FLOW-11 keep their hosts from a second run of the command where NATS has lost its store', async () => {
    const { hosts, peer, server } = await killedWithOneInFlight();
    const { sent_since: before } = server.status;
    await loseStore(peer, hosts);
    start(server, hosts);
    await vi.waitFor(() => expect(peer.invokes.length).toBe(4), patience);
    expect(sentTo(peer)).toEqual(['n00000', 'n00001', 'n00002', 'n00002']);
    // The host knows the id as long as its first token was good.
    const token = await readCommandToken(publicKey, peer.invokes.at(-1)?.command.token ?? '', Date.now());
    const sentAt = Date.parse(before ?? '');
    expect(token?.exp).toBeLessThanOrEqual((sentAt + 600_000 + fleetRunLimits.tokenGraceMs) / 1_000 + 1);
    expect(server.status.summary).toMatchObject({ ok: 2, err: 0 });
  }, 90_000);

  it('EDGE-FLOW-11 leave one in flight unknown, and send nothing, where NATS has lost its store too long after', async () => {
    const { hosts, peer, server } = await killedWithOneInFlight();
    await loseStore(peer, hosts);
    server.run = {
      ...server.run,
      status: { ...server.status, sent_since: new Date(Date.now() - 901_000).toISOString() },
    };
    start(server, hosts);
    await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), patience);
    expect(server.status.summary).toMatchObject({ ok: 2, err: 1 });
    expect((await perNodeOf(server)).find(({ outcome }) => outcome === 'err')).toMatchObject({
      code: 'OutcomeUnknown',
    });
    expect(peer.invokes.length).toBe(3);
  }, 90_000);

  it('EDGE-RES-26 are not followed by `not_started` of a command that may have left, where the store is lost', async () => {
    const { hosts, peer, server } = await killedWithOneInFlight();
    await loseStore(peer, hosts);
    server.change({ spec: { cancel: { by: 'ada' } } });
    start(server, hosts);
    await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), { ...patience, timeout: 40_000 });
    expect(server.status.summary).toMatchObject({ ok: 2, cancelled: 1, not_started: 0 });
  }, 90_000);
});

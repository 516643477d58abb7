import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import { systemClock } from '../../../lib/clock.ts';
import { notStarted } from '../../../lib/fleet/node-record.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { hurriedClock } from '../../../test/support/faster-clock.ts';
import { FleetServer, perNodeOf } from '../../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';
import { openOutcomesText } from './open-outcomes.ts';

const nats = useFleetControllers();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 40_000, interval: 20 });
const ok = { outcome: 'ok', exit_code: 0, duration_ms: 5 } as const;

/** A quota of the namespace with room for so many ConfigMaps: the first has the targets. */
function quotaOf(server: FleetServer): { room: number } {
  const quota = { room: 1 };
  const { create } = server.kube;
  server.kube.create = async (...made) => {
    const message = 'configmaps "x" is forbidden: exceeded quota: q, requested: count/configmaps=1';
    if (server.maps.size >= quota.room)
      throw new KubeError(403, { reason: 'Forbidden', message }, { verb: 'create', resource: 'configmaps' });
    return create(...made);
  };
  return quota;
}

const waitsForQuota = (server: FleetServer) =>
  soon(() => {
    const reason = 'RecordNotStored';
    expect(server.status).toMatchObject({ phase: 'Running', reason, message: expect.stringContaining('quota: q') });
    expect(server.status.conditions).toMatchObject([{ type: 'Succeeded', status: 'Unknown', reason }]);
  });
const ended = (server: FleetServer) => soon(() => expect(server.status.phase).toBe('Ended'));

describe('a fleet run whose outcomes cannot be stored', { timeout: 90_000 }, () => {
  it('EDGE-REST-35 EDGE-RES-29 says how far it is, takes up a cancellation, and has its record when there is room', async () => {
    const hosts = hostsNamed(3);
    await startRelayPeer(nats.connect(), hosts, async (_, node) => (node === 'n00000' ? ok : undefined));
    const server = new FleetServer({ policy: { per_target_deadline_secs: 3_600 } });
    const quota = quotaOf(server);
    const process = nats.start(server, hosts, { clock: hurriedClock });
    await waitsForQuota(server);
    expect(server.status).toMatchObject({ summary: { ok: 1 }, in_flight: 2, open_outcomes: '0o' });
    server.change({ spec: { cancel: { by: 'ada' } } });
    process.wake();
    await soon(() => expect(server.status.cancellation).toEqual({ cancelled: 2, already_terminal: 1 }));
    await soon(() => expect(server.status).toMatchObject({ in_flight: 0, summary: { ok: 1, cancelled: 2 } }));
    quota.room = Number.POSITIVE_INFINITY;
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'cancelled', reason: 'Cancelled' });
    expect(await perNodeOf(server)).toHaveLength(3);
  });

  it('EDGE-RES-29 ends when its record can be stored, and says until then that it waits for that', async () => {
    const hosts = hostsNamed(3);
    await startRelayPeer(nats.connect(), hosts, async () => ok);
    const server = new FleetServer({});
    const quota = quotaOf(server);
    nats.start(server, hosts);
    await waitsForQuota(server);
    expect(server.status).toMatchObject({ summary: { ok: 3 }, in_flight: 0 });
    const { writes } = server;
    await systemClock.sleep(2_500);
    expect(server.writes).toBe(writes);
    quota.room = Number.POSITIVE_INFINITY;
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete', reason: 'Completed', summary: { ok: 3 } });
    expect(await perNodeOf(server)).toHaveLength(3);
  });

  it('EDGE-REST-35 AMB-109 answers a cancellation that comes while all hosts have their outcomes, and is complete', async () => {
    const hosts = hostsNamed(3);
    await startRelayPeer(nats.connect(), hosts, async () => ok);
    const server = new FleetServer({});
    const quota = quotaOf(server);
    const first = nats.start(server, hosts);
    await waitsForQuota(server);
    await soon(() => expect(server.status).toMatchObject({ summary: { ok: 3 }, in_flight: 0 }));
    server.change({ spec: { cancel: { by: 'ada' } } });
    const late = { cancelled: 0, already_terminal: 3 };
    await soon(() => expect(server.status.cancellation).toEqual(late));
    expect(server.status).toMatchObject({ phase: 'Running', reason: 'RecordNotStored' });
    await first.kill();
    nats.start(server, hosts);
    quota.room = Number.POSITIVE_INFINITY;
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete', cancellation: late, summary: { ok: 3 } });
  });

  it('EDGE-REST-35 AMB-109 counts the commands that another process has sent, where it takes a cancellation up at once', async () => {
    const hosts = hostsNamed(6);
    await startRelayPeer(nats.connect(), hosts, async (_, node) => (node === 'n00000' ? ok : undefined));
    const server = new FleetServer({ policy: { max_concurrency: 3, per_target_deadline_secs: 3_600 } });
    const first = nats.start(server, hosts);
    await soon(() => expect(server.status).toMatchObject({ summary: { ok: 1 }, in_flight: 3 }));
    await first.kill();
    server.change({ spec: { cancel: { by: 'ada' } } });
    nats.start(server, hosts, { clock: hurriedClock });
    await soon(() => expect(server.status.cancellation).toEqual({ cancelled: 3, already_terminal: 1 }));
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'cancelled', summary: { ok: 1, cancelled: 3, not_started: 2 } });
  });

  it('EDGE-RES-29 sends no more commands than have room in memory for their outcomes', async () => {
    const [count, most] = [1_000, 100];
    const hosts = hostsNamed(count);
    const peer = await startRelayPeer(nats.connect(), hosts, () => systemClock.sleep(500).then(() => ok));
    const server = new FleetServer({ policy: { max_concurrency: most } });
    const quota = quotaOf(server);
    nats.start(server, hosts);
    await waitsForQuota(server);
    await soon(() => expect(server.status.in_flight).toBe(0));
    const sent = peer.invokes.length;
    // Those that came within the second before the first refusal are there as well.
    expect(sent).toBeLessThan(500 + 4 * most);
    await systemClock.sleep(1_500);
    expect(peer.invokes).toHaveLength(sent);
    quota.room = Number.POSITIVE_INFINITY;
    await ended(server);
    expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: count } });
    expect(await perNodeOf(server)).toHaveLength(count);
  });

  it('EDGE-RES-29 has as many of its outcomes in the status as that takes, the oldest first', () => {
    const records = Array.from({ length: 10_500 }, (_, at) => ({
      ...notStarted(`n${at}`, `c${at}`),
      outcome: 'err' as const,
      exit_code: -2_147_483_648,
    }));
    const { text, rest } = openOutcomesText(records, (node) => Number(node.slice(1)));
    const words = text.split(' ');
    expect(text.length).toBeLessThanOrEqual(limits.fleetOpenOutcomesLength);
    expect(text.length).toBeGreaterThan(limits.fleetOpenOutcomesLength - 20);
    expect(words.at(-1)).toBe(`${words.length - 1}e-2147483648`);
    expect(rest).toEqual(records.slice(words.length));
  });
});

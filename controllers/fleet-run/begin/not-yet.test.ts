import { describe, expect, it, vi } from 'vitest';
import type { EventBus } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { KubeError } from '../../../lib/kube/index.ts';
import { registeredToolService } from '../../../lib/tools/fleet-capable.ts';
import { startTestBus } from '../../../test/nats/test-bus.ts';
import { FleetServer, startFleetController } from '../../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';
import { generateKeyPairSync } from 'node:crypto';
import { fleetRunLimits } from '../limits.ts';

const nats = useFleetControllers();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 20 });
const ok = async () => ({ outcome: 'ok', exit_code: 0, duration_ms: 5 }) as const;

/** A gateway that is there, and cannot answer until `isBack`. */
async function gateway(bus: EventBus): Promise<{ isBack: boolean }> {
  const state = { isBack: false };
  await bus.serve({ service: registeredToolService }, async () => {
    if (!state.isBack) throw new AppError('unavailable', 'the gateway stops', { reason: 'Stopped' });
    return JSON.stringify({ fleet_capable: true });
  }).ready;
  return state;
}

const conditionOf = ({ status }: FleetServer) => status.conditions?.[0];
const waitsFor = (server: FleetServer, reason: string) =>
  soon(() => {
    expect(server.status).toMatchObject({ phase: 'Pending', reason });
    expect(conditionOf(server)).toMatchObject({ type: 'Succeeded', status: 'Unknown', reason });
  });
/** A run of a tool that only the gateway knows. */
const run = (seconds = 60) => new FleetServer({ tool: 'own.tool', policy: { per_target_deadline_secs: seconds } });

/** A run that has waited for so long. */
function waiting(ms: number, seconds = 60): FleetServer {
  const server = run(seconds);
  const at = new Date(Date.now() - ms).toISOString();
  const condition = {
    type: 'Succeeded',
    status: 'Unknown',
    reason: 'GatewayUnavailable',
    message: 'm',
    lastTransitionTime: at,
  };
  server.run = { ...server.run, status: { phase: 'Pending', conditions: [condition] } } as FleetServer['run'];
  return server;
}

describe('a fleet run that cannot begin', { timeout: 60_000 }, () => {
  it('EDGE-RES-28 says that it waits for the gateway, in one write, and runs when that is back', async () => {
    const away = await gateway(nats.connect());
    const hosts = hostsNamed(2);
    const peer = await startRelayPeer(nats.connect(), hosts, ok);
    const server = run();
    nats.start(server, hosts);
    await waitsFor(server, 'GatewayUnavailable');
    expect(server.status.message).toBe(
      'the run waits for the tool gateway, which knows whether a fleet can run the tool',
    );
    await systemClock.sleep(2_500);
    expect(server.writes).toBe(1);
    away.isBack = true;
    await soon(() => expect(server.status).toMatchObject({ phase: 'Ended', outcome: 'complete', summary: { ok: 2 } }));
    expect(conditionOf(server)).toMatchObject({ status: 'True', reason: 'Completed' });
    expect(peer.invokes).toHaveLength(2);
    away.isBack = false;
  });

  it('EDGE-REST-35 AMB-109 ends where it is cancelled meanwhile, and sent nothing', async () => {
    const hosts = hostsNamed(1);
    const peer = await startRelayPeer(nats.connect(), hosts, ok);
    const server = run();
    const process = nats.start(server, hosts);
    await waitsFor(server, 'GatewayUnavailable');
    server.change({ spec: { cancel: { by: 'ada' } } });
    process.wake();
    await soon(() => expect(server.status).toMatchObject({ phase: 'Ended', outcome: 'cancelled' }));
    expect(peer.got).toEqual([]);
  });

  it.each([
    ['refused', fleetRunLimits.beginWaitMs, 60],
    [undefined, fleetRunLimits.beginWaitMs - 60_000, 60],
    [undefined, fleetRunLimits.beginWaitMs, 3_600],
    ['refused', 3_600_000, 3_600],
  ])('EDGE-RES-28 is %s after %i ms with a deadline of %i s', async (outcome, ms, seconds) => {
    const server = waiting(ms, seconds);
    nats.start(server, hostsNamed(1));
    if (outcome === undefined) return waitsFor(server, 'GatewayUnavailable');
    await soon(() => expect(server.status).toMatchObject({ phase: 'Ended', outcome, reason: 'GatewayUnavailable' }));
    expect(server.status.message).toMatch(/tool gateway.*; it waited for \d+ s$/);
  });

  it('EDGE-RES-28 says that it waits for NATS, also where it is the way to the gateway', async () => {
    const own = await startTestBus();
    const { privateKey: edgeKey } = generateKeyPairSync('ed25519');
    const servers = [run(), new FleetServer({})];
    const hosts = hostsNamed(1);
    await startRelayPeer(own.connect(), hosts, ok);
    await own.server.kill();
    const processes = servers.map((server) => startFleetController({ bus: own.connect(), edgeKey, server, hosts }));
    for (const server of servers) await waitsFor(server, 'EventBusUnavailable');
    for (const { status } of servers) expect(status.message).toContain('NATS');
    await Promise.all(processes.map((process) => process.kill()));
    await own.stop();
  });

  it('EDGE-RES-28 says that its targets cannot be stored, and runs when they can be', async () => {
    const hosts = hostsNamed(1);
    await startRelayPeer(nats.connect(), hosts, ok);
    const server = new FleetServer({});
    const create = server.kube.create;
    let isFull = true;
    server.kube.create = async (...made) => {
      const message = 'configmaps "x" is forbidden: exceeded quota: q, requested: count/configmaps=1';
      if (isFull)
        throw new KubeError(403, { reason: 'Forbidden', message }, { verb: 'create', resource: 'configmaps' });
      return create(...made);
    };
    nats.start(server, hosts);
    await waitsFor(server, 'RecordNotStored');
    expect(server.status.message).toContain('exceeded quota: q');
    isFull = false;
    await soon(() => expect(server.status).toMatchObject({ phase: 'Ended', outcome: 'complete' }));
  });
});

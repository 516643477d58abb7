import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { FleetServer } from '../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../test/support/relay-peer.ts';

const nats = useFleetControllers();
const patience = { timeout: 20_000, interval: 20 };

/** A run whose two commands are on their hosts, and a cache that may lack it. */
async function underWay() {
  const hosts = hostsNamed(2);
  const peer = await startRelayPeer(nats.connect(), hosts, async () => undefined);
  const server = new FleetServer({ policy: { per_target_deadline_secs: 600 } });
  let isSeen = true;
  const seen = () => (isSeen && !server.isGone ? server.run : undefined);
  const process = nats.start(server, hosts, { seen });
  await vi.waitFor(() => expect([peer.invokes.length, server.status.in_flight]).toEqual([2, 2]), patience);
  const see = (is: boolean) => void (isSeen = is);
  return { peer, server, process, see };
}

describe('a run that the cache lacks', { timeout: 90_000 }, () => {
  it('EDGE-FLOW-16 goes on where the API server has it: no command is cancelled', async () => {
    const { peer, server, process, see } = await underWay();
    see(false);
    process.gone();
    await systemClock.sleep(1_500);
    see(true);
    process.wake();
    expect(peer.cancels).toBe(0);
    for (const invoke of peer.invokes) await peer.say(invoke, { outcome: 'ok', exit_code: 0, duration_ms: 1 });
    await vi.waitFor(() => expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 2 } }), patience);
    expect(peer.cancels).toBe(0);
  });

  it('EDGE-FLOW-16 keeps its commands while the API server does not answer', async () => {
    const { peer, server, process, see } = await underWay();
    const { get } = server.kube;
    let asked = 0;
    const down = async (): Promise<never> => {
      asked += 1;
      throw new Error('the API server is away');
    };
    Object.assign(server.kube, { get: down });
    see(false);
    process.gone();
    await vi.waitFor(() => expect(asked).toBeGreaterThan(1), patience);
    Object.assign(server.kube, { get });
    await systemClock.sleep(1_500);
    expect(peer.cancels).toBe(0);
    server.isGone = true;
    process.gone();
    await vi.waitFor(() => expect(peer.cancels).toBe(2), patience);
  });

  it('EDGE-FLOW-16 is looked at again once its commands were ended as those of a run that is gone', async () => {
    const { peer, server, process } = await underWay();
    server.isGone = true;
    process.gone();
    await vi.waitFor(() => expect(peer.cancels).toBe(2), patience);
    // A backup of the API server brings it back.
    server.isGone = false;
    for (const invoke of peer.invokes) await peer.say(invoke, { outcome: 'cancelled', reason: 'asked' });
    await vi.waitFor(() => expect(server.status.phase).toBe('Ended'), patience);
    expect(server.status).toMatchObject({ outcome: 'cancelled', summary: { cancelled: 2 } });
  });
});

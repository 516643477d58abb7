import { describe, expect, it, vi } from 'vitest';
import { commandsFinalizer } from '../../crds/labels.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { EdgeOutcome } from '../../lib/edge/index.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { type FleetProcess, FleetServer } from '../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../test/support/fleet-controllers.ts';
import { hostsNamed, type RelayPeer, startRelayPeer } from '../../test/support/relay-peer.ts';
import type { CommandSender } from './commands/command.ts';
import { fleetRunLimits } from './limits.ts';

const nats = useFleetControllers();
const { start } = nats;

const soon = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });
const isGone = (server: FleetServer) => soon(() => expect(server.isGone).toBe(true));
const ok: EdgeOutcome = { outcome: 'ok', exit_code: 0, duration_ms: 5 };
const stopped: EdgeOutcome = { outcome: 'cancelled', reason: 'asked' };
const silent = async () => undefined;
const isHeld = ({ run }: FleetServer): boolean => run.metadata.finalizers?.includes(commandsFinalizer) === true;

/** Time that a test moves on. */
class MovedClock implements Clock {
  ahead = 0;
  readonly now = (): number => Date.now() + this.ahead;
  readonly steadyMs = (): number => systemClock.steadyMs() + this.ahead;
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => systemClock.sleep(ms, signal);
}

interface UnderWay {
  readonly hosts: readonly EdgeHost[];
  readonly peer: RelayPeer;
  readonly server: FleetServer;
  readonly process: FleetProcess;
}

/** A run whose one command is on its host, which says nothing. */
async function underWay(bus: Pick<TestBus, 'connect'> = nats): Promise<UnderWay> {
  const hosts = hostsNamed(1);
  const peer = await startRelayPeer(bus.connect(), hosts, silent);
  const server = new FleetServer({ policy: { per_target_deadline_secs: 600 } });
  const process = start(server, hosts, { bus: bus.connect() });
  await soon(() => expect([peer.invoked.length, server.status.in_flight]).toEqual([1, 1]));
  return { hosts, peer, server, process };
}

async function answer({ peer }: UnderWay, result: EdgeOutcome): Promise<void> {
  const [invoke] = peer.invokes;
  if (invoke !== undefined) await peer.say(invoke, result);
}

describe('a fleet run holds its object', { timeout: 60_000 }, () => {
  it('while its commands may be under way, and not after its end', async () => {
    const run = await underWay();
    expect(isHeld(run.server)).toBe(true);
    const { finalizers = [] } = run.server.run.metadata;
    run.server.change({ metadata: { finalizers: ['other/one', ...finalizers] } });
    await answer(run, ok);
    await soon(() => expect(run.server.status.phase).toBe('Ended'));
    await soon(() => expect(run.server.run.metadata.finalizers).toEqual(['other/one']));
  });

  it('where another process continues one that an older version began', async () => {
    const { hosts, server, process } = await underWay();
    await process.kill();
    server.change({ metadata: { finalizers: ['other/one'] } });
    start(server, hosts);
    await soon(() => expect(server.run.metadata.finalizers).toEqual(['other/one', commandsFinalizer]));
  });

  it('where its namespace is no tenant for a while, and continues when it is one again', async () => {
    const run = await underWay();
    const { hosts, server, process } = run;
    await process.kill();
    let tenant: string | undefined;
    const leader = start(server, hosts, { tenantOf: () => tenant });
    const again = { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: 'NotATenant' };
    expect(await leader.look()).toEqual(again);
    expect([isHeld(server), server.status.phase]).toEqual([true, 'Running']);
    tenant = 'acme';
    leader.wake();
    await answer(run, ok);
    await soon(() => expect(server.status.phase).toBe('Ended'));
  });

  it('and not where it is refused', async () => {
    const server = new FleetServer({ policy: { require_min_targets: 3 } });
    const written: boolean[] = [];
    const { jsonPatch } = server.kube;
    Object.assign(server.kube, {
      jsonPatch: (...args: Parameters<typeof jsonPatch>) => (written.push(true), jsonPatch(...args)),
    });
    start(server, hostsNamed(1));
    await soon(() => expect(server.status.outcome).toBe('refused'));
    expect(written).toEqual([]);
  });
});

describe('a fleet run that is deleted', { timeout: 60_000 }, () => {
  it.each(['while a process leads', 'while none leads'])(
    'EDGE-FLOW-16 is removed when the command that was under way has been cancelled and has ended: %s',
    async (when) => {
      const run = await underWay();
      const { hosts, peer, server, process } = run;
      if (when === 'while none leads') await process.kill();
      server.delete();
      const leader = when === 'while none leads' ? start(server, hosts) : process;
      leader.wake();
      await soon(() => expect(peer.cancels).toBe(1));
      expect(peer.got.at(-1)).toMatchObject({ kind: 'cancel', reason: 'the run was deleted' });
      expect(server.isGone).toBe(false);
      await answer(run, stopped);
      await isGone(server);
      expect(leader.events).toEqual([]);
      expect(peer.invoked.length).toBeLessThanOrEqual(2);
    },
  );

  it('is removed at once where it never began, and sends nothing', async () => {
    const hosts = hostsNamed(1);
    const peer = await startRelayPeer(nats.connect(), hosts, silent);
    const server = new FleetServer({});
    server.change({ metadata: { finalizers: [commandsFinalizer] } });
    server.delete();
    const { events } = start(server, hosts);
    await isGone(server);
    expect([peer.got, events]).toEqual([[], []]);
  });

  it('is removed at once where it had ended, and was not let go', async () => {
    const run = await underWay();
    await answer(run, ok);
    await soon(() => expect(run.server.status.phase).toBe('Ended'));
    await run.process.kill();
    run.server.change({ metadata: { finalizers: [commandsFinalizer] } });
    run.server.delete();
    const { events } = start(run.server, run.hosts);
    await isGone(run.server);
    expect([run.peer.cancels, events]).toEqual([0, []]);
  });

  it('is removed where the host does not answer its cancellation', async () => {
    const { hosts, peer, server, process } = await underWay();
    await process.kill();
    server.delete();
    const clock = new MovedClock();
    let isHandedOver = false;
    const cancel =
      (sender: CommandSender): CommandSender['cancel'] =>
      async (command, reason) => {
        await sender.cancel(command, reason);
        isHandedOver = true;
      };
    const leader = start(server, hosts, { clock, wrapSender: (sender) => ({ ...sender, cancel: cancel(sender) }) });
    await soon(() => expect([peer.cancels, isHandedOver]).toEqual([1, true]));
    clock.ahead = 16_000;
    leader.wake();
    await isGone(server);
    expect(leader.events).toEqual([]);
  });

  it('is cancelled when its namespace is that of its tenant again', async () => {
    const run = await underWay();
    const { hosts, peer, server, process } = run;
    await process.kill();
    server.delete();
    let tenant: string | undefined;
    const leader = start(server, hosts, { tenantOf: () => tenant });
    await leader.look();
    expect(server.isGone).toBe(false);
    tenant = 'acme';
    leader.wake();
    await soon(() => expect(peer.cancels).toBe(1));
    await answer(run, stopped);
    await isGone(server);
    expect(leader.events).toEqual([]);
  });

  it.each(['the event bus is away', 'its record is lost', 'the namespace is no tenant'])(
    'is removed when its time is over, with a warning, where %s',
    async (why) => {
      const bus = await startTestBus();
      try {
        const { hosts, server, process } = await underWay(bus);
        await process.kill();
        server.delete();
        if (why === 'its record is lost') server.maps.clear();
        else if (why === 'the event bus is away') await bus.server.stop();
        const tenantOf = () => (why === 'the namespace is no tenant' ? undefined : 'acme');
        let looks = 0;
        const { get } = server.kube;
        Object.assign(server.kube, { get: (...args: Parameters<typeof get>) => ((looks += 1), get(...args)) });
        const clock = new MovedClock();
        const leader = start(server, hosts, { bus: bus.connect(), clock, tenantOf });
        await soon(() => expect(looks).toBeGreaterThan(0));
        expect([server.isGone, leader.events]).toEqual([false, []]);
        clock.ahead = fleetRunLimits.leaveMs + 1;
        leader.wake();
        await isGone(server);
        await soon(() => expect(leader.events).toEqual(['CommandsLeft']));
      } finally {
        await bus.stop();
      }
    },
  );
});

import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { EdgeOutcome } from '../../../lib/edge/index.ts';
import { createConfigMapStore } from '../../../lib/output-store/config-map-store.ts';
import { FleetServer as Server } from '../../../test/support/fleet-controller.ts';
import { useFleetControllers } from '../../../test/support/fleet-controllers.ts';
import { hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';
import { createArgumentPool, createKeepArgs } from '../commands/run-arguments.ts';
import { createHeapBudget } from '../heap-budget.ts';
import { storeTargets } from '../record/store-records.ts';
import { sizeInStatus, sizeOfTargets, heapBytesOf } from './heap-bytes.ts';
import { HeapRoom } from './heap-room.ts';

const nats = useFleetControllers();
const { start } = nats;
const patience = { timeout: 40_000, interval: 20 };
const ok: EdgeOutcome = { outcome: 'ok', exit_code: 0, duration_ms: 5 };

describe('room for fleet runs', () => {
  const roomsOf = (size: number) => new HeapRoom(systemClock, size);
  const of = (tenant: string, uid: string, wake: () => void = () => undefined) => ({ uid, tenant, bytes: 100, wake });

  it.each([
    ['one less than its share', 1, [true]],
    ['its share', 2, [true, true]],
    ['one more', 3, [true, true, false]],
  ])('EDGE-RES-21 a tenant may have %s, and another one begins beside it', async (_, runs, want) => {
    const rooms = roomsOf(400);
    const has = Array.from({ length: runs }, (_unused, at) => rooms.take(of('a', `a${at}`)));
    expect(has).toEqual(want);
    expect(rooms.take(of('b', 'b'))).toBe(true);
    await rooms.leaveAll();
    expect([rooms.heldBy('a'), rooms.heldBy('b')]).toEqual([0, 0]);
  });

  it('a run is woken when it has room, which it keeps until it leaves', async () => {
    const rooms = roomsOf(200);
    const [woken, other] = [vi.fn<() => void>(), vi.fn<() => void>()];
    expect([rooms.take(of('a', 'a0')), rooms.take(of('a', 'a1', woken))]).toEqual([true, false]);
    expect([rooms.take(of('a', 'a1', other)), rooms.isWaiting('a1')]).toEqual([false, true]);
    rooms.leave('a0');
    await vi.waitFor(() => expect(woken).toHaveBeenCalledOnce(), patience);
    expect([rooms.isWaiting('a1'), rooms.take(of('a', 'a1')), rooms.heldBy('a')]).toEqual([false, true, 100]);
    rooms.leave('a1');
    expect([other.mock.calls.length, rooms.heldBy('a')]).toEqual([0, 0]);
  });

  it('one that has left gets no room any more', async () => {
    const rooms = roomsOf(200);
    const woken = vi.fn<() => void>();
    rooms.take(of('a', 'a0'));
    rooms.take(of('a', 'a1', woken));
    rooms.leave('a1');
    rooms.leave('a0');
    await systemClock.sleep(20);
    expect([woken.mock.calls.length, rooms.heldBy('a')]).toEqual([0, 0]);
  });
});

/** A run whose hosts answer when it is asked to let them. */
async function scene(tenant: string, rooms: HeapRoom) {
  const hosts = hostsNamed(1);
  const answer = Promise.withResolvers<EdgeOutcome>();
  const peer = await startRelayPeer(nats.connect(), hosts, () => answer.promise);
  const server = new Server({ policy: { per_target_deadline_secs: 600 } });
  const begin = () => start(server, hosts, { rooms, tenantOf: () => tenant });
  return { peer, server, begin, end: () => answer.resolve(ok) };
}

/** Room for one run of this tenant, and for one of another. */
function roomsForOne(): HeapRoom {
  const bytes = heapBytesOf(new Server({}).run, sizeOfTargets(targets));
  return new HeapRoom(systemClock, 3 * bytes);
}
const targets = { resolved: [{ node_id: 'n00000', host_uid: 'h00-0', name: 'host-0' }], skipped: [] };

describe('a fleet run that finds no room', () => {
  it('EDGE-RES-21 says that it waits, holds up no other tenant, and begins when another one has ended', async () => {
    const rooms = roomsForOne();
    const [first, second, other] = [await scene('acme', rooms), await scene('acme', rooms), await scene('else', rooms)];
    first.begin();
    await vi.waitFor(() => expect(first.peer.invokes).toHaveLength(1), patience);
    second.begin();
    await vi.waitFor(() => expect(second.server.status.reason).toBe('WaitingForRoom'), patience);
    expect(second.server.status).toMatchObject({
      phase: 'Pending',
      message: expect.stringContaining('no room'),
      conditions: [{ type: 'Succeeded', status: 'Unknown', reason: 'WaitingForRoom' }],
    });
    other.begin();
    other.end();
    await vi.waitFor(() => expect(other.server.status).toMatchObject({ outcome: 'complete' }), patience);
    expect([second.peer.invokes.length, second.server.writes]).toEqual([0, 1]);
    first.end();
    second.end();
    await vi.waitFor(() => expect(second.server.status).toMatchObject({ outcome: 'complete' }), patience);
    expect(second.server.status).toMatchObject({ reason: 'Completed', summary: { ok: 1 } });
    await vi.waitFor(() => expect(rooms.heldBy('acme')).toBe(0), patience);
  });

  it('EDGE-REST-40 ends when it is cancelled, and has sent nothing', async () => {
    const rooms = roomsForOne();
    const [first, second] = [await scene('acme', rooms), await scene('acme', rooms)];
    first.begin();
    await vi.waitFor(() => expect(first.peer.invokes).toHaveLength(1), patience);
    const process = second.begin();
    await vi.waitFor(() => expect(second.server.status.reason).toBe('WaitingForRoom'), patience);
    second.server.change({ spec: { cancel: { by: 'ada' } } });
    process.wake();
    await vi.waitFor(() => expect(second.server.status.phase).toBe('Ended'), patience);
    expect(second.server.status).toMatchObject({
      outcome: 'cancelled',
      summary: { cancelled: 0, not_started: 0 },
    });
    first.end();
    await vi.waitFor(() => expect(rooms.heldBy('acme')).toBe(0), patience);
    expect(second.peer.invokes).toEqual([]);
  });

  it('EDGE-REST-38 AMB-200 is continued by another leader when there is room, and its host keeps its deadline', async () => {
    const rooms = roomsForOne();
    const one = await scene('acme', rooms);
    const first = one.begin();
    await vi.waitFor(() => expect(one.server.status.sent_since).toBeDefined(), patience);
    const { sent_since: since } = one.server.status;
    await first.kill();
    await vi.waitFor(() => expect(rooms.heldBy('acme')).toBe(0), patience);
    rooms.take({ uid: 'another', tenant: 'acme', bytes: 10_000_000, wake: () => undefined });
    one.begin();
    await vi.waitFor(() => expect(one.server.status.reason).toBe('WaitingForRoom'), patience);
    expect(one.server.status).toMatchObject({ phase: 'Running', sent_since: since, in_flight: 1 });
    one.end();
    rooms.leave('another');
    await vi.waitFor(() => expect(one.server.status).toMatchObject({ outcome: 'complete' }), patience);
    expect(new Set(one.peer.invokes.map(({ command }) => command.commandId)).size).toBe(1);
  });
});

describe('a fleet run under way that finds no room after a change of leader', () => {
  /** In flight at its host, and in line behind a run that keeps its room. */
  async function waiting() {
    const rooms = roomsForOne();
    const one = await scene('acme', rooms);
    const first = one.begin();
    await vi.waitFor(() => expect(one.server.status.sent_since).toBeDefined(), patience);
    await first.kill();
    await vi.waitFor(() => expect(rooms.heldBy('acme')).toBe(0), patience);
    rooms.take({ uid: 'another', tenant: 'acme', bytes: 10_000_000, wake: () => undefined });
    const process = one.begin();
    await vi.waitFor(() => expect(one.server.status.reason).toBe('WaitingForRoom'), patience);
    const other = rooms.heldBy('acme');
    const hasLeft = () => vi.waitFor(() => expect(rooms.heldBy('acme')).toBe(other), patience);
    return { ...one, process, hasLeft };
  }

  it('EDGE-REST-35 EDGE-FLOW-16 is cancelled all the same, and so are its hosts', async () => {
    const { server, peer, process, end, hasLeft } = await waiting();
    server.change({ spec: { cancel: { by: 'ada' } } });
    process.wake();
    await vi.waitFor(() => expect(server.status.cancellation).toBeDefined(), patience);
    await vi.waitFor(() => expect(peer.cancels).toBe(1), patience);
    end();
    await vi.waitFor(() => expect(server.status).toMatchObject({ phase: 'Ended', outcome: 'cancelled' }), patience);
    await hasLeft();
  });

  it('EDGE-FLOW-16 is deleted all the same, and its hosts are cancelled', async () => {
    const { server, peer, process, end, hasLeft } = await waiting();
    server.delete();
    process.wake();
    await vi.waitFor(() => expect(peer.cancels).toBe(1), patience);
    end();
    await vi.waitFor(() => expect(server.isGone).toBe(true), patience);
    expect(process.events).not.toContain('CommandsLeft');
    await hasLeft();
  });

  it('EDGE-RES-21 shares the room for such runs with those of other tenants, and gets whichever room comes first', async () => {
    const rooms = new HeapRoom(systemClock, 200, 200);
    const woken = vi.fn<() => void>();
    const of = (tenant: string, uid: string, isEnding: boolean) => ({ uid, tenant, bytes: 100, isEnding, wake: woken });
    expect([rooms.take(of('a', 'a0', false)), rooms.take(of('b', 'b0', false))]).toEqual([true, true]);
    const ending = ['a1', 'a2', 'a3'].map((uid) => rooms.take(of('a', uid, true)));
    expect([ending, rooms.take(of('b', 'b1', true))]).toEqual([[true, false, false], true]);
    expect(rooms.take(of('a', 'a4', false))).toBe(false);
    rooms.leave('a1');
    await vi.waitFor(() => expect(rooms.isWaiting('a2')).toBe(false), patience);
    rooms.leave('a0');
    await vi.waitFor(() => expect(rooms.isWaiting('a3')).toBe(false), patience);
    expect([rooms.isWaiting('a4'), woken.mock.calls.length, rooms.heldBy('a')]).toEqual([true, 2, 200]);
    await rooms.leaveAll();
    expect([rooms.heldBy('a'), rooms.heldBy('b')]).toEqual([0, 0]);
  });

  it('EDGE-RES-21 needs as much room as at its begin, with the hosts that it skipped', async () => {
    const server = new Server({});
    const skipped = Array.from({ length: 50 }, (_, at) => ({ node_id: `n${at}`, reason: 'Draining' as const }));
    const all = { ...targets, skipped };
    const store = createConfigMapStore(server.kube as unknown as Parameters<typeof createConfigMapStore>[0]);
    const status = await storeTargets(store, server.run, all);
    expect(sizeInStatus({ ...server.run, status: { phase: 'Running', ...status } })).toEqual(sizeOfTargets(all));
  });
});

describe('arguments of a fleet run', () => {
  const argsOf = (bytes: number) => ({ x: 'y'.repeat(bytes - '{"x":""}'.length) });

  it.each([
    [4_095, 0],
    [4_096, 0],
    [4_097, 1],
  ])('of %i bytes are read %i times for a command', async (bytes, reads) => {
    const { run } = new Server({ args: argsOf(bytes) });
    const get = vi.fn<() => Promise<unknown>>(async () => run);
    const keepArgs = createKeepArgs({
      kube: { get: get as never },
      heapBudget: createHeapBudget(systemClock),
      onTheWay: createArgumentPool(systemClock),
    });
    const same = async <T>(value: T): Promise<T> => value;
    const { signal } = new AbortController();
    expect(await keepArgs(run, 'acme')(same, same, signal)).toEqual(run.spec.args);
    expect(get).toHaveBeenCalledTimes(reads);
  });

  it('EDGE-REST-28 that are large reach each host whole', async () => {
    const hosts = hostsNamed(3);
    const peer = await startRelayPeer(nats.connect(), hosts, async () => ok);
    const server = new Server({ args: argsOf(60_000) });
    start(server, hosts);
    await vi.waitFor(() => expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 3 } }), patience);
    for (const { command } of peer.invokes) expect(command.args).toEqual(server.run.spec.args);
  });

  it('EDGE-REST-33 are read again where the API server does not answer, and no host is blamed', async () => {
    const hosts = hostsNamed(1);
    const peer = await startRelayPeer(nats.connect(), hosts, async () => ok);
    const server = new Server({ args: argsOf(60_000) });
    const { get } = server.kube;
    let failures = 0;
    server.kube.get = async (resource, at) => {
      if (server.status.started_at === undefined || failures >= 2 || resource.plural !== 'fleetruns')
        return get(resource, at);
      failures += 1;
      throw new Error('away');
    };
    start(server, hosts);
    await vi.waitFor(() => expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 1 } }), patience);
    expect([failures, peer.invokes.length]).toEqual([2, 1]);
  });
});

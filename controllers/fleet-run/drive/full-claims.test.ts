import { DiscardPolicy, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EdgeOutcome } from '../../../lib/edge/index.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { hurriedClock } from '../../../test/support/faster-clock.ts';
import { FleetServer, perNodeOf, startFleetController } from '../../../test/support/fleet-controller.ts';
import { type Answer, hostsNamed, startRelayPeer } from '../../../test/support/relay-peer.ts';

const { privateKey: edgeKey } = generateKeyPairSync('ed25519');
const ok: EdgeOutcome = { outcome: 'ok', exit_code: 0, duration_ms: 5 };
const soon = (check: () => void) => vi.waitFor(check, { timeout: 25_000, interval: 20 });

let nats: TestBus;
beforeEach(async () => void (nats = await startTestBus()), 60_000);
afterEach(() => nats.stop());

/** The store of claims takes no further one, as where the disk of NATS is full. */
const fill = (): Promise<void> => fillEach((name) => name === 'KV_windlass_edge_commands');
/** Nothing of NATS takes anything. */
const fillAll = (): Promise<void> => fillEach(() => true);

async function fillEach(isFull: (name: string) => boolean): Promise<void> {
  const connection = await connect({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  for await (const { config } of streams.list()) {
    if (isFull(config.name)) await streams.update(config.name, { ...config, max_bytes: 1, discard: DiscardPolicy.New });
  }
  await connection.close();
}

/** The server makes no further stream: others have reserved all of its disk. */
async function reserveAll(): Promise<void> {
  const connection = await connect({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  for (let power = 50; power >= 0; power -= 1) {
    const filler = { name: `FILLER_${power}`, subjects: [`filler.${power}`], max_bytes: 2 ** power };
    await streams.add(filler).catch(() => undefined);
  }
  await connection.close();
}

async function begin(count: number, answer: Answer) {
  const hosts = hostsNamed(count);
  const peer = await startRelayPeer(nats.connect(), hosts, answer);
  const server = new FleetServer({ policy: { mode: 'Sequential', per_target_deadline_secs: 600 } });
  const start = (more: Partial<Parameters<typeof startFleetController>[0]> = {}) =>
    startFleetController({ bus: nats.connect(), edgeKey, server, hosts, clock: hurriedClock, ...more });
  return { peer, server, start };
}

describe('a fleet run whose claims find no room in NATS', { timeout: 60_000 }, () => {
  it('EDGE-RES-26 ends with the reason at its hosts, after the patience for one command', async () => {
    const { peer, server, start } = await begin(40, async (_, node) => {
      if (node === 'n00001') await fill();
      return ok;
    });
    server.change({ spec: { policy: { mode: 'Sequential', per_target_deadline_secs: 1 } } });
    const process = start();
    await soon(() => expect(server.status.phase).toBe('Ended'));
    expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 2, err: 38 } });
    expect(peer.invokes).toHaveLength(2);
    const failed = (await perNodeOf(server)).filter(({ outcome }) => outcome === 'err');
    expect(new Set(failed.map(({ code }) => code))).toEqual(new Set(['BucketFull']));
    expect(failed[0]?.message).toMatch(/^the event bus has no room: /);
    await process.kill();
  });

  it('EDGE-RES-26 says that all of NATS is full, and ends after its deadline with outcomes that its record alone has', async () => {
    const { server, start } = await begin(5, async (_, node) => {
      if (node === 'n00001') await fillAll();
      return node === 'n00000' ? ok : undefined;
    });
    server.change({ spec: { policy: { mode: 'Sequential', per_target_deadline_secs: 1 } } });
    const process = start();
    await soon(() => expect(server.status).toMatchObject({ phase: 'Running', reason: 'BucketFull' }));
    expect(server.status.conditions).toMatchObject([{ type: 'Succeeded', status: 'Unknown', reason: 'BucketFull' }]);
    expect(server.status.message).toMatch(/^the event bus \(NATS\) has no room for /);
    await soon(() => expect(server.status.phase).toBe('Ended'));
    expect(server.status).toMatchObject({ outcome: 'complete', summary: { ok: 1, timed_out: 1, err: 3 } });
    const codes = (await perNodeOf(server)).map(({ outcome, code }) => code ?? outcome);
    expect(codes).toEqual(['ok', 'timed_out', 'BucketFull', 'BucketFull', 'BucketFull']);
    await process.kill();
  });

  it('EDGE-RES-26 EDGE-REST-40 sends nothing where there is no room for the log of its results, says so, and ends', async () => {
    const before = await begin(1, async () => ok);
    const first = before.start();
    await soon(() => expect(before.server.status.phase).toBe('Ended'));
    await first.kill();
    await reserveAll();
    // The log of this tenant is not there yet.
    const more = { tenantOf: () => 'umbra' };
    const late = await begin(2, async () => ok);
    late.server.change({ spec: { policy: { mode: 'Sequential', per_target_deadline_secs: 1 } } });
    const cancelled = await begin(2, async () => ok);
    const processes = [late.start(more), cancelled.start(more)];
    for (const { server } of [late, cancelled])
      await soon(() => expect(server.status).toMatchObject({ phase: 'Running', reason: 'BucketFull' }));
    await soon(() => expect(late.server.status.phase).toBe('Ended'));
    expect(late.server.status).toMatchObject({ outcome: 'halted', reason: 'BucketFull', summary: { not_started: 2 } });
    cancelled.server.change({ spec: { cancel: { by: 'ada' } } });
    processes[1]?.wake();
    await soon(() => expect(cancelled.server.status.phase).toBe('Ended'));
    const count = { cancelled: 0, already_terminal: 0 };
    expect(cancelled.server.status).toMatchObject({ outcome: 'cancelled', cancellation: count });
    expect([late.peer.invokes, cancelled.peer.invokes]).toEqual([[], []]);
    await Promise.all(processes.map((process) => process.kill()));
  });

  it('EDGE-REST-40 ends after its cancellation, also where the claims of an earlier process cannot be looked into by a new one', async () => {
    const { peer, server, start } = await begin(3, async () => undefined);
    const first = start({ wrapSender: (sender) => ({ ...sender, claim: () => new Promise(() => undefined) }) });
    await soon(() => expect(server.status.in_flight).toBe(1));
    await first.kill();
    await fill();
    server.change({ spec: { cancel: { by: 'ada' } } });
    const second = start();
    await soon(() => expect(server.status.phase).toBe('Ended'));
    expect(server.status).toMatchObject({ outcome: 'cancelled', summary: { cancelled: 0, not_started: 3 } });
    expect(peer.invokes).toEqual([]);
    await second.kill();
  });
});

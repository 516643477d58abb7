import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventBus } from '../../lib/bus/index.ts';
import { createMemoryBucket } from '../../lib/bus/kv/memory-bucket.ts';
import type { EdgeEventCase } from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryHosts, type MemoryHosts } from '../../test/support/memory-hosts.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { watchOver } from '../watch-over.ts';
import { createKeyReader } from './key-reader.ts';
import { LiveStream } from './live-stream.ts';
import { Streams } from './streams.ts';
import { type TakeEventDeps, takeEvent } from './take-event.ts';

const relayKey = generateKeyPairSync('ed25519');
const readKey = createKeyReader();
const capabilities = { os: 'linux', arch: 'amd64', local_tools: [], mount_points: [], labels: {} };
const relayId = randomUUID();

let clock: ManualClock;
let memory: MemoryHosts;
/** The same, as the API server answers. */
let hosts: MemoryHosts;
let streams: Streams;
/** How long a call of the API server takes; one for a host may never be answered, or be refused. */
let callMs: number;
let hanging: Set<string>;
let refused: Map<string, AppError>;
/** Hosts in the order in which their writes reached the server. */
let order: string[];
let bus: Pick<EventBus, 'bucket' | 'request' | 'problem'>;

beforeEach(() => {
  clock = createManualClock();
  memory = createMemoryHosts();
  callMs = 0;
  hanging = new Set();
  refused = new Map();
  order = [];
  const called = async (nodeId: string): Promise<void> => {
    if (hanging.has(nodeId)) await new Promise(() => undefined);
    await clock.sleep(callMs);
    const problem = refused.get(nodeId);
    if (problem !== undefined) throw problem;
  };
  const real = memory;
  hosts = {
    ...memory,
    async find(tenant, nodeId) {
      order.push(nodeId);
      await called(nodeId);
      return real.find(tenant, nodeId);
    },
    async write(host, status) {
      await called(status.node_id);
      return real.write(host, status);
    },
  };
  const buckets = new Map<string, unknown>();
  bus = {
    bucket: (definition: Parameters<typeof createMemoryBucket>[1]) => {
      if (!buckets.has(definition.name)) buckets.set(definition.name, createMemoryBucket(clock, definition));
      return buckets.get(definition.name);
    },
    request: async () => new Uint8Array(),
    problem: () => undefined,
  } as unknown as typeof bus;
  const options = { relayId, staleMs: 90_000, heartbeatMs: 30_000 };
  streams = new Streams({ clock, logger: silentLogger, bus, hosts, ...options });
});

/** Streams of new hosts. */
async function begun(count: number, tenant = 'acme', status: 'Connected' | 'Disconnected' = 'Connected') {
  const all: LiveStream[] = [];
  for (let index = 0; index < count; index += 1) {
    const nodeId = randomUUID();
    const at = new Date(clock.now()).toISOString();
    const made = await memory.create({ tenant, nodeId, name: undefined, enrolledBy: 'ada' });
    const own = { node_id: nodeId, since: at, enrolled_at: at, keys: { current: 'k' }, token_jti: 'j', capabilities };
    const host = await memory.write(made, { ...own, status });
    const facts = {
      nodeId,
      token: { digest: '', jti: '', keyHash: '', ends: Number.POSITIVE_INFINITY },
      streamId: randomUUID(),
      beganAt: clock.now(),
      deps: { clock, hosts: { find: async () => undefined }, relayKey, readKey },
      pipe: { send: async () => undefined, interrupt: () => undefined },
    };
    const stream = new LiveStream(facts, host ?? made, capabilities);
    await streams.begin(stream);
    all.push(stream);
  }
  return all;
}

const statusOf = async ({ host, facts }: LiveStream): Promise<string | undefined> =>
  (await memory.find(host.tenant, facts.nodeId))?.object.status?.status;

async function countOf(all: readonly LiveStream[], state: string): Promise<number> {
  const found = await Promise.all(all.map(statusOf));
  return found.filter((one) => one === state).length;
}

/** Each second a look, as the relay does. */
async function look(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    void streams.checkHeartbeats();
    await clock.advance(1_000);
  }
}

const away = new AppError('unavailable', 'the API server is away');
const forbidden = new AppError('forbidden', 'a policy refuses it');

describe('EDGE-FLOW-17 hosts that fall silent', () => {
  it('are Unhealthy within seconds where 500 do so at once, and each is written once', async () => {
    const all = await begun(500);
    const before = memory.writes();
    callMs = 50;
    await clock.advance(90_001);
    await look(2);
    expect(await countOf(all, 'Unhealthy')).toBe(500);
    expect(memory.writes() - before).toBe(500);
  });

  it('wait for no call that hangs, in this look or a later one', async () => {
    const [stuck, ...others] = await begun(20);
    hanging.add(stuck?.facts.nodeId ?? '');
    await clock.advance(60_000);
    const late = await begun(20);
    await clock.advance(30_001);
    await look(1);
    expect(await countOf(others, 'Unhealthy')).toBe(19);
    await clock.advance(59_000);
    await look(2);
    expect(await countOf(late, 'Unhealthy')).toBe(20);
  });

  it('wait for no call that hangs in the watch over all of them either', async () => {
    const [stuck] = await begun(1);
    hanging.add(stuck?.facts.nodeId ?? '');
    await clock.advance(60_000);
    const late = await begun(1);
    const over = new AbortController();
    const options = { relayId, staleMs: 90_000 };
    void watchOver({ clock, logger: silentLogger, bus, hosts: memory, streams, ...options }, over.signal);
    await clock.advance(95_000);
    over.abort();
    expect(await countOf(late, 'Unhealthy')).toBe(1);
  });

  it('wait for none whose write is refused, which is tried again after a minute', async () => {
    const all = await begun(300);
    const bad = new Set(all.slice(0, 200));
    for (const { facts } of bad) refused.set(facts.nodeId, forbidden);
    await clock.advance(90_001);
    await look(2);
    const others = all.filter((stream) => !bad.has(stream));
    expect(await countOf(others, 'Unhealthy')).toBe(100);
    const asked = order.length;
    await look(57);
    expect(order.length).toBe(asked);
    refused.clear();
    await look(5);
    expect(await countOf(all, 'Unhealthy')).toBe(300);
  });

  it('wait for none of another tenant whose writes the server does not answer', async () => {
    const bad = await begun(300, 'umbra');
    const others = await begun(300);
    for (const { facts } of bad) refused.set(facts.nodeId, away);
    callMs = 50;
    await clock.advance(90_001);
    await look(10);
    expect(await countOf(others, 'Unhealthy')).toBe(300);
    refused.clear();
    await look(10);
    expect(await countOf(bad, 'Unhealthy')).toBe(300);
  });

  it('take turns by tenant: one host of a small tenant is among the first of a large one', async () => {
    await begun(1_000, 'umbra');
    const [small] = await begun(1);
    callMs = 50;
    await clock.advance(90_001);
    void streams.checkHeartbeats();
    await clock.advance(1);
    expect(order.length).toBeLessThanOrEqual(64);
    expect(order).toContain(small?.facts.nodeId);
  });

  it('cost an API server that is away few calls a look', async () => {
    const all = await begun(1_000);
    for (const { facts } of all) refused.set(facts.nodeId, away);
    callMs = 1;
    await clock.advance(90_001);
    await look(3);
    expect(order.length).toBeLessThanOrEqual(3 * 64);
    expect(streams.counts().Unhealthy).toBeGreaterThan(0);
    refused.clear();
    await look(3);
    expect(await countOf(all, 'Unhealthy')).toBe(1_000);
  });

  it('are not written where they speak before their turn', async () => {
    const all = await begun(500);
    const before = memory.writes();
    callMs = 100;
    await clock.advance(90_001);
    void streams.checkHeartbeats();
    await clock.advance(10);
    for (const stream of all) await takeEvent({ streams } as TakeEventDeps, stream, heartbeat);
    await look(5);
    expect(await countOf(all, 'Connected')).toBe(500);
    expect(memory.writes() - before).toBeLessThanOrEqual(128);
  });
});

const heartbeat: EdgeEventCase = { $case: 'heartbeat', value: { envelope: undefined, sentAt: undefined } };

describe('EDGE-FLOW-17 hosts that speak', () => {
  it('are never Unhealthy because the API server is slow to take their states', async () => {
    const all = await begun(1_000, 'acme', 'Disconnected');
    // The API server was away when they came back.
    for (const stream of all) stream.isUnwritten = true;
    callMs = 4_000;
    const write = vi.spyOn(streams, 'heard');
    const speak = async (stream: LiveStream): Promise<void> => {
      // A relay reads a message when it has handled the one before.
      for (let beat = 1; beat <= 8; beat += 1) {
        const due = 50_000 + beat * 30_000;
        if (clock.steadyMs() < due) await clock.sleep(due - clock.steadyMs());
        await takeEvent({ streams } as TakeEventDeps, stream, heartbeat);
      }
    };
    for (const stream of all) void speak(stream);
    for (let second = 0; second < 240; second += 1) {
      void streams.checkHeartbeats();
      await clock.advance(1_000);
      expect(streams.counts().Unhealthy).toBe(0);
    }
    expect(write).toHaveBeenCalledTimes(8_000);
    expect(await countOf(all, 'Connected')).toBe(1_000);
  }, 60_000);
});

describe('AMB-094 hosts of a relay that is gone', () => {
  it.each([
    ['refuses', forbidden],
    ['does not answer for', away],
  ])('are Disconnected, whichever of them the server %s', async (_, problem) => {
    const all: string[] = [];
    for (let index = 0; index < 100; index += 1) {
      const nodeId = randomUUID();
      const at = new Date(clock.now()).toISOString();
      const made = await memory.create({ tenant: 'acme', nodeId, name: undefined, enrolledBy: 'ada' });
      const own = { node_id: nodeId, since: at, enrolled_at: at, keys: { current: 'k' }, token_jti: 'j' };
      await memory.write(made, { ...own, status: 'Connected' });
      all.push(nodeId);
    }
    for (const nodeId of all.slice(0, 40)) refused.set(nodeId, problem);
    const over = new AbortController();
    const options = { relayId, staleMs: 90_000 };
    const watching = watchOver({ clock, logger: silentLogger, bus, hosts, streams, ...options }, over.signal);
    await clock.advance(400_000);
    over.abort();
    await clock.advance(1_000);
    await watching;
    const states = [...memory.known()].map(({ object }) => object.status?.status);
    expect(states.filter((state) => state === 'Disconnected')).toHaveLength(60);
  });
});

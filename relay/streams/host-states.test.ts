import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createMemoryHosts, type MemoryHosts } from '../../test/support/memory-hosts.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { StoredHost } from '../hosts/host-store.ts';
import { HostStates } from './host-states.ts';
import { createKeyReader } from './key-reader.ts';
import { LiveStream } from './live-stream.ts';

const capabilities = { os: 'linux', arch: 'amd64', local_tools: [], mount_points: [], labels: {} };

function streamOf(host: StoredHost, nodeId: string): LiveStream {
  const facts = {
    nodeId,
    token: { digest: '', jti: '', keyHash: '', ends: Number.POSITIVE_INFINITY },
    streamId: randomUUID(),
    beganAt: Date.now(),
    deps: {
      clock: systemClock,
      hosts: { find: async () => undefined },
      relayKey: generateKeyPairSync('ed25519'),
      readKey: createKeyReader(),
    },
    pipe: { send: async () => undefined, interrupt: () => undefined },
  };
  return new LiveStream(facts, host, capabilities);
}

/** A stream of a new host. */
async function begun(
  hosts: MemoryHosts,
  tenant: string,
  status: 'Connected' | 'Disconnected' = 'Disconnected',
): Promise<LiveStream> {
  const nodeId = randomUUID();
  const at = new Date().toISOString();
  const made = await hosts.create({ tenant, nodeId, name: undefined, enrolledBy: 'ada' });
  const own = { node_id: nodeId, since: at, enrolled_at: at, keys: { current: 'k' }, token_jti: 'j' };
  const host = await hosts.write(made, { ...own, ...(status === 'Connected' && { capabilities }), status });
  return streamOf(host ?? made, nodeId);
}

it('asks the API server about 64 hosts at most at once, and writes them all', async () => {
  const hosts = createMemoryHosts();
  let [open, most] = [0, 0];
  const slow = {
    ...hosts,
    async find(tenant: string, nodeId: string) {
      most = Math.max(most, (open += 1));
      await systemClock.sleep(1);
      open -= 1;
      return hosts.find(tenant, nodeId);
    },
  };
  const deps = { clock: systemClock, logger: silentLogger, hosts: slow, heartbeatMs: 30_000 };
  const lost: LiveStream[] = [];
  const states = new HostStates(deps, { isOpen: () => true, onLost: (stream) => void lost.push(stream) });
  const streams: LiveStream[] = [];
  for (let index = 0; index < 200; index += 1) streams.push(await begun(hosts, index % 2 === 0 ? 'acme' : 'umbra'));
  const written = await Promise.all(streams.map((stream) => states.report(stream)));
  expect(new Set(written)).toEqual(new Set(['done']));
  expect(lost).toEqual([]);
  expect([...hosts.known()].map(({ object }) => object.status?.status)).toEqual(streams.map(() => 'Connected'));
  expect(most).toBeGreaterThan(32);
  expect(most).toBeLessThanOrEqual(64);
});

/** Time passes a hundred times as fast. */
const fast = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 100, signal),
};

function fleet(hosts: MemoryHosts) {
  const asked = vi.spyOn(hosts, 'find');
  const listed = vi.spyOn(hosts, 'pagesOf');
  const deps = { clock: fast, logger: silentLogger, hosts, heartbeatMs: 30_000 };
  const lost: LiveStream[] = [];
  const states = new HostStates(deps, { isOpen: () => true, onLost: (stream) => void lost.push(stream) });
  return { states, lost, calls: () => ({ asked: asked.mock.calls.length, listed: listed.mock.calls.length }) };
}

it('asks for a list in place of each host, and writes nothing, where a fleet of 1,000 comes back', async () => {
  const hosts = createMemoryHosts();
  const streams = await Promise.all(Array.from({ length: 1_000 }, () => begun(hosts, 'acme', 'Connected')));
  const before = hosts.writes();
  const { states, lost, calls } = fleet(hosts);
  const confirmed = streams.map((stream) => states.confirm(stream));
  // The relay hears of neither before: what the server has counts.
  const [revoked, gone] = [streams[700], streams[800]];
  hosts.revoke('acme', revoked?.facts.nodeId ?? '');
  hosts.remove('acme', gone?.facts.nodeId ?? '');
  const found = await Promise.all(confirmed);
  expect(hosts.writes()).toBe(before);
  // Those of the first turns, and the one that the list does not have.
  expect(calls()).toEqual({ asked: 65, listed: 1 });
  expect(new Set(lost)).toEqual(new Set([revoked, gone]));
  expect(found.filter((host) => host === undefined)).toHaveLength(1);
  expect(found[700]?.object.spec.revoked).toBe(true);
});

it('writes each of a fleet of 1,000 that connects for the first time once, without asking for it', async () => {
  const hosts = createMemoryHosts();
  const streams = await Promise.all(Array.from({ length: 1_000 }, () => begun(hosts, 'acme')));
  const before = hosts.writes();
  const { states, lost, calls } = fleet(hosts);
  const confirmed = streams.map((stream) => states.confirm(stream));
  await Promise.all(confirmed);
  expect(hosts.writes()).toBe(before + 1_000);
  expect(calls()).toEqual({ asked: 64, listed: 1 });
  expect([...hosts.known()].map(({ object }) => object.status?.status)).toEqual(streams.map(() => 'Connected'));
  expect(lost).toEqual([]);
});

it('EDGE-FLOW-17 leaves a host Unhealthy that fell silent before its turn', async () => {
  const hosts = createMemoryHosts();
  const streams = await Promise.all(Array.from({ length: 300 }, () => begun(hosts, 'acme')));
  const { states } = fleet(hosts);
  const confirmed = streams.map((stream) => states.confirm(stream));
  const silent = streams[299];
  if (silent === undefined) throw new Error('no stream');
  silent.isUnhealthy = true;
  await states.report(silent);
  await Promise.all(confirmed);
  expect([...hosts.known()].filter(({ object }) => object.status?.status === 'Connected')).toHaveLength(299);
  expect((await hosts.find('acme', silent.facts.nodeId))?.object.status?.status).toBe('Unhealthy');
});

it('EDGE-RES-09 warns of tools and labels that are left out, once for each write of them', async () => {
  const hosts = createMemoryHosts();
  const stream = await begun(hosts, 'acme');
  const warn = vi.fn<(facts: object, message: string) => void>();
  const deps = { clock: fast, logger: { ...silentLogger, warn }, hosts, heartbeatMs: 30_000 };
  const states = new HostStates(deps, { isOpen: () => true, onLost: () => undefined });
  stream.capabilities = { ...capabilities, facts_left_out: 3 };
  for (let turn = 0; turn < 3; turn += 1) await states.report(stream);
  const facts = { node: stream.facts.nodeId, leftOut: 3 };
  expect(warn.mock.calls).toEqual([[facts, 'tools and labels of a host left out: they are too long together']]);
});

it('asks again for a host that another writer has changed since the list', async () => {
  const hosts = createMemoryHosts();
  const streams = await Promise.all(Array.from({ length: 300 }, () => begun(hosts, 'acme')));
  const pages = hosts.pagesOf.bind(hosts);
  const { states, calls } = fleet(hosts);
  const last = streams.at(-1)?.facts.nodeId ?? '';
  vi.spyOn(hosts, 'pagesOf').mockImplementation(async function* (tenant) {
    for await (const page of pages(tenant)) {
      hosts.tag(tenant, last, ['since']);
      yield page;
    }
  });
  await Promise.all(streams.map((stream) => states.confirm(stream)));
  expect(calls().asked).toBe(65);
  const host = await hosts.find('acme', last);
  expect([host?.object.spec.tags, host?.object.status?.status]).toEqual([['since'], 'Connected']);
});

it.each([
  ['when the API took it, however late it is written', 0, 'given'],
  ['when it is written, where nothing says more', undefined, 'written'],
  ['when it is written, where the object says a time before the enrolment', -1, 'written'],
  ['when it is written, where the object says a time to come', 3_600_000, 'written'],
])('EDGE-RES-06 a revocation begins %s', async (_title, afterMs, want) => {
  const hosts = createMemoryHosts();
  const { states } = fleet(hosts);
  const { facts } = await begun(hosts, 'acme', 'Connected');
  const enrolled = Date.parse((await hosts.find('acme', facts.nodeId))?.object.status?.enrolled_at ?? '');
  hosts.revoke('acme', facts.nodeId, afterMs === undefined ? undefined : new Date(enrolled + afterMs).toISOString());
  await systemClock.sleep(5);
  const before = Date.now();
  await states.writeRevocation({ tenant: 'acme', nodeId: facts.nodeId });
  const status = (await hosts.find('acme', facts.nodeId))?.object.status;
  expect(status?.status).toBe('Revoked');
  const began = Date.parse(status?.since ?? '');
  const [earliest, latest] = want === 'written' ? [before, Date.now()] : [enrolled, enrolled];
  expect(began).toBeGreaterThanOrEqual(earliest);
  expect(began).toBeLessThanOrEqual(latest);
});

it('EDGE-RES-06 a state begins when it is first written, whatever else is written while it lasts', async () => {
  const hosts = createMemoryHosts();
  const stream = await begun(hosts, 'acme');
  let now = Date.parse('2026-01-01T00:00:00.000Z');
  const clock = { ...fast, now: () => now };
  const deps = { clock, logger: silentLogger, hosts, heartbeatMs: 30_000 };
  const states = new HostStates(deps, { isOpen: () => true, onLost: () => undefined });
  const found: unknown[] = [];
  for (const state of ['Connected', 'Connected', 'Unhealthy', 'Disconnected'] as const) {
    now += 1_000;
    stream.capabilities = { ...capabilities, os: `linux ${now}` };
    stream.isUnhealthy = state === 'Unhealthy';
    await (state === 'Disconnected' ? states.reportEnd(stream) : states.report(stream));
    const status = (await hosts.find('acme', stream.facts.nodeId))?.object.status;
    found.push([status?.status, status?.since, status?.capabilities?.os === `linux ${now}`]);
  }
  expect(found).toEqual([
    ['Connected', '2026-01-01T00:00:01.000Z', true],
    ['Connected', '2026-01-01T00:00:01.000Z', true],
    ['Unhealthy', '2026-01-01T00:00:03.000Z', true],
    ['Disconnected', '2026-01-01T00:00:04.000Z', true],
  ]);
});

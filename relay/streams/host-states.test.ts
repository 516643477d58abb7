import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { monotonicMs, systemClock } from '../../lib/clock.ts';
import { createMemoryHosts } from '../../test/support/memory-hosts.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import type { StoredHost } from '../hosts/host-store.ts';
import { HostStates } from './host-states.ts';
import { LiveStream } from './live-stream.ts';

const capabilities = { os: 'linux', arch: 'amd64', local_tools: [], mount_points: [], labels: {} };

function streamOf(host: StoredHost, nodeId: string): LiveStream {
  const facts = {
    nodeId,
    token: { text: '', jti: '', keyHash: '', ends: Number.POSITIVE_INFINITY },
    streamId: randomUUID(),
    beganAt: Date.now(),
    deps: { clock: systemClock, hosts: { find: async () => undefined }, relayKey: generateKeyPairSync('ed25519') },
    pipe: { send: async () => undefined },
  };
  return new LiveStream(facts, host, capabilities);
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
  const deps = { clock: systemClock, steadyMs: monotonicMs, logger: silentLogger, hosts: slow, heartbeatMs: 30_000 };
  const lost: LiveStream[] = [];
  const states = new HostStates(deps, { isOpen: () => true, onLost: (stream) => void lost.push(stream) });
  const streams: LiveStream[] = [];
  for (let index = 0; index < 200; index += 1) {
    const tenant = index % 2 === 0 ? 'acme' : 'umbra';
    const nodeId = randomUUID();
    const at = new Date().toISOString();
    const made = await hosts.create({ tenant, nodeId, name: undefined, enrolledBy: 'ada' });
    const own = { node_id: nodeId, since: at, enrolled_at: at, keys: { current: 'k' }, token_jti: 'j' };
    const host = await hosts.write(made, { ...own, status: 'Disconnected' });
    streams.push(streamOf(host ?? made, nodeId));
  }
  const written = await Promise.all(streams.map((stream) => states.report(stream, 'Connected')));
  expect(written.every(Boolean)).toBe(true);
  expect(lost).toEqual([]);
  expect([...hosts.known()].map(({ object }) => object.status?.status)).toEqual(streams.map(() => 'Connected'));
  expect(most).toBeGreaterThan(32);
  expect(most).toBeLessThanOrEqual(64);
});

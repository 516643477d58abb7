import { beforeEach, describe, expect, it } from 'vitest';
import type { EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import type { BusEvent } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createMemoryHosts } from '../../test/support/memory-hosts.ts';
import { announceHosts } from './announce-hosts.ts';
import type { HostStore, StoredHost } from './host-store.ts';

const statusOf = (status: EdgeHostStatus['status'], more: Partial<EdgeHostStatus> = {}): EdgeHostStatus => ({
  node_id: 'n',
  status,
  since: '2026-01-01T00:00:00Z',
  enrolled_at: '2026-01-01T00:00:00Z',
  keys: { current: 'k'.repeat(44) },
  token_jti: 'secret',
  ...more,
});

describe('domain events of hosts', () => {
  let raised: BusEvent[];
  let hosts: HostStore;
  let host: StoredHost;
  beforeEach(async () => {
    raised = [];
    hosts = announceHosts(createMemoryHosts(), {
      events: { raise: (event) => void raised.push(event) },
      clock: systemClock,
    });
    host = await hosts.create({ tenant: 'acme', nodeId: 'n', name: undefined, enrolledBy: 'ops' });
  });
  const write = async (...states: readonly EdgeHostStatus[]): Promise<void> => {
    for (const status of states) host = (await hosts.write(host, status)) ?? host;
  };
  const names = () => raised.map(({ type }) => type);

  it('EDGE-FLOW-01 EDGE-FLOW-17 EDGE-FLOW-18 are one for each change of state', async () => {
    const states = ['Disconnected', 'Connected', 'Unhealthy', 'Connected', 'Disconnected', 'Revoked'] as const;
    await write(...states.map((state) => statusOf(state)));
    expect(names()).toEqual([
      'EdgeHostEnrolled',
      'EdgeHostConnected',
      'EdgeHostUnhealthy',
      'EdgeHostConnected',
      'EdgeHostDisconnected',
      'EdgeHostRevoked',
    ]);
    expect(new Set(raised.map(({ id }) => id)).size).toBe(6);
    const [first] = raised;
    expect(first).toMatchObject({ topic: 'edge', source: 'relay', tenant: 'acme', subject: host.object.metadata.uid });
    expect(first?.data).toMatchObject({ node_id: 'n', status: 'Disconnected' });
    expect(JSON.stringify(raised)).not.toMatch(/secret|kkkk/);
  });

  it('are none where the state stays, and where another one wrote first', async () => {
    await write(statusOf('Connected'), statusOf('Connected', { last_heartbeat_at: '2026-01-01T00:00:09Z' }));
    expect(names()).toEqual(['EdgeHostEnrolled']);
    const old = host;
    await write(statusOf('Unhealthy'));
    expect(await hosts.write(old, statusOf('Disconnected'))).toBeUndefined();
    expect(names()).toEqual(['EdgeHostEnrolled', 'EdgeHostUnhealthy']);
  });
});

import { expect, it } from 'vitest';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import { relayHost } from './relay-host.ts';

const at = '2026-11-28T05:26:46Z';
const host: EdgeHost = {
  apiVersion: 'windlass.dev/v1',
  kind: 'EdgeHost',
  metadata: {
    name: 'host-1',
    namespace: 'acme',
    uid: 'u1',
    resourceVersion: '7',
    deletionTimestamp: at,
    annotations: { note: 'x'.repeat(10_000) },
    labels: { of: 'others' },
  },
  spec: {
    name: 'a machine',
    tags: ['a', 'b'],
    labels: { zone: 'b' },
    revoked: true,
    draining: true,
    enrolled_by: 'ada',
  },
  status: {
    node_id: 'n1',
    status: 'Connected',
    since: at,
    enrolled_at: at,
    last_heartbeat_at: at,
    capabilities: { os: 'linux', arch: 'amd64', local_tools: ['cmd.run'], mount_points: [], labels: {} },
    keys: { current: 'new', previous: 'old', previous_until: at },
    token_jti: 'j1',
  },
};

it('keeps of a host what a relay decides by, and nothing else', () => {
  expect(relayHost(host)).toEqual({
    apiVersion: 'windlass.dev/v1',
    kind: 'EdgeHost',
    metadata: { name: 'host-1', namespace: 'acme', uid: 'u1', resourceVersion: '7', deletionTimestamp: at },
    spec: { revoked: true, draining: true },
    status: {
      node_id: 'n1',
      status: 'Connected',
      since: '',
      enrolled_at: '',
      keys: { current: 'new', previous: 'old', previous_until: at },
      token_jti: 'j1',
    },
  });
});

it('keeps a host that has no status yet', () => {
  const { status: _, ...fresh } = host;
  expect(relayHost(fresh)).not.toHaveProperty('status');
});

import type { EdgeGroup, EdgeGroupSpec } from '../../crds/schema/edge-group.ts';
import { type EdgeHost, type EdgeHostSpec, type EdgeHostStatus, edgeHostName } from '../../crds/schema/edge-host.ts';

/** The id of a host by a number. */
export const nodeId = (number: number): string => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;

const uid = (kind: number, number: number): string =>
  `0000000${kind}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A connected host; the greater its number, the newer. */
export function aHost(number: number, spec: EdgeHostSpec = {}, status: Partial<EdgeHostStatus> = {}): EdgeHost {
  const enrolledAt = new Date(Date.parse('2026-01-01T00:00:00Z') + number * 1_000).toISOString().replace('.000', '');
  return {
    apiVersion: 'windlass.dev/v1',
    kind: 'EdgeHost',
    metadata: {
      name: edgeHostName(nodeId(number)),
      namespace: 'tenant-acme',
      uid: uid(1, number),
      resourceVersion: '1',
      creationTimestamp: enrolledAt,
    },
    spec: { name: `host ${number}`, ...spec },
    status: {
      node_id: nodeId(number),
      status: 'Connected',
      since: enrolledAt,
      enrolled_at: enrolledAt,
      capabilities: {
        os: 'linux',
        arch: 'x64',
        local_tools: ['cmd.run'],
        mount_points: ['/mnt'],
        labels: { zone: 'a' },
      },
      keys: { current: 'A'.repeat(43).concat('=') },
      token_jti: 'secret-jti',
      ...status,
    },
  };
}

/** A group of a tenant. */
export const aGroup = (number: number, spec: Partial<EdgeGroupSpec> = {}): EdgeGroup => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'EdgeGroup',
  metadata: {
    name: `group-${number}`,
    namespace: 'tenant-acme',
    uid: uid(2, number),
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { name: `group ${number}`, ...spec },
});

import { expect, it } from 'vitest';
import type { ConfigMap, NetworkPolicy } from '../../lib/kube/index.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { find, render } from './chart/rendering.ts';

const entry = {
  name: 'web.fetch',
  allow_internal_addresses: ['10.20.0.0/16', 'fd20::/64'],
  cluster_networks: ['10.244.0.0/16'],
};
const values = (dispatchers: readonly object[]) => ({
  api: { oidc: { issuer: 'https://id.example.com:8443', audience: 'windlass' } },
  nodeConfig: { builtin_dispatchers: dispatchers },
});
const pages = { ports: [80, 443].map((port) => ({ protocol: 'TCP', port })) };

it('AMB-139 the chart carries the networks that web.fetch may reach to the API, and opens the way to them', async () => {
  const rendered = await render(values([entry]));
  const { data } = find<ConfigMap>(rendered, 'ConfigMap', 'windlass-node-config');
  expect(readNodeConfig(data?.['node.yaml'] ?? '', {}).builtin_dispatchers).toMatchObject([entry]);
  const { spec } = find<NetworkPolicy>(rendered, 'NetworkPolicy', 'windlass-api');
  const to = entry.allow_internal_addresses.map((cidr) => ({ ipBlock: { cidr } }));
  expect(spec?.egress).toEqual(expect.arrayContaining([pages, { to }]));
  for (const name of ['windlass-controllers', 'windlass-nats'])
    expect(JSON.stringify(find<NetworkPolicy>(rendered, 'NetworkPolicy', name))).not.toContain('10.20.0.0/16');
  const plain = await render(values([{ name: 'cmd' }]));
  expect(find<NetworkPolicy>(plain, 'NetworkPolicy', 'windlass-api').spec?.egress).not.toContainEqual(pages);
});

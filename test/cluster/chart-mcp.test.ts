import { expect, it } from 'vitest';
import type { ConfigMap, KubeObject, NetworkPolicy } from '../../lib/kube/index.ts';
import { readNodeConfig } from '../../lib/node-config/index.ts';
import { type Deployment, environment, find, render } from './chart/rendering.ts';

const notes = { name: 'notes', url: 'https://notes.example.com:8443/mcp', api_key: 'secret:mcp-keys/notes' };
const models = [{ alias: 'default', model: 'm' }];
const cloud = { name: 'cloud', type: 'openai', api_key: 'secret:model-keys/openai', models };
const values = (servers: readonly object[]) => ({
  api: { oidc: { issuer: 'https://id.example.com', audience: 'windlass' } },
  gateway: { enabled: true, mcpSecrets: ['mcp-keys'] },
  nodeSecrets: ['model-keys'],
  nodeConfig: { llm_providers: [cloud], ...(servers.length > 0 && { mcp_servers: servers }) },
});

const secretsOf = (objects: readonly KubeObject[], name: string): string[] =>
  (find<Deployment>(objects, 'Deployment', name).spec.template.spec.volumes ?? []).flatMap(({ secret }) =>
    secret?.secretName?.endsWith('-keys') ? [secret.secretName] : [],
  );
const checksumOf = (objects: readonly KubeObject[]): string | undefined =>
  find<Deployment>(objects, 'Deployment', 'windlass-gateway').spec.template.metadata.annotations?.[
    'checksum/mcp-servers'
  ];

it('LLM-17 gives the gateway the keys of MCP servers alone, a way to them, and a restart where their entries change', async () => {
  const rendered = await render(values([notes]));
  const names = ['windlass-gateway', 'windlass-api', 'windlass-controllers'];
  expect(names.map((name) => secretsOf(rendered, name))).toEqual([['mcp-keys'], ['model-keys'], ['model-keys']]);
  const { data } = find<ConfigMap>(rendered, 'ConfigMap', 'windlass-node-config');
  const env = environment(rendered, 'windlass-gateway') as Record<string, string>;
  const read = readNodeConfig(data?.['node.yaml'] ?? '', env, (path) => path, { keysOf: 'mcp' });
  expect(read.mcp_servers[0]?.api_key?.reveal()).toBe('/etc/windlass/node-secrets/mcp-keys/notes');
  const policy = find<NetworkPolicy>(rendered, 'NetworkPolicy', 'windlass-gateway');
  expect(policy.spec?.egress).toContainEqual({ ports: [{ protocol: 'TCP', port: 8_443 }] });
  const other = await render(values([{ ...notes, timeout_secs: 5 }]));
  const none = await render(values([]));
  expect(new Set([checksumOf(rendered), checksumOf(other), checksumOf(none)]).size).toBe(3);
  expect(Object.keys(environment(none, 'windlass-gateway'))).not.toContain('WINDLASS_NODE_CONFIG');
  expect(secretsOf(none, 'windlass-gateway')).toEqual([]);
});

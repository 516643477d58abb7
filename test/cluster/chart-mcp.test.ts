import { describe, expect, it } from 'vitest';
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

type ServiceObject = KubeObject & { readonly spec: { readonly ports: readonly { readonly port: number }[] } };

describe('an MCP server over stdio', () => {
  const notes = {
    name: 'notes',
    transport: 'stdio',
    image: 'notes:1',
    command: ['notes'],
    args: ['--quiet'],
    env: { LEVEL: 'info', TOKEN: 'secret:notes-token/token' },
    memory_mb: 64,
    tenants: ['acme', 'beta'],
  };
  const pods = ['mcp-notes-822b33ad87', 'mcp-notes-f44e64e75f'];

  it('has a pod for each tenant, whose key the gateway reads by the name that the configuration gives it', async () => {
    const rendered = await render(values([notes]));
    const secret = find<KubeObject & { data: Record<string, string> }>(rendered, 'Secret', 'windlass-mcp-programs');
    expect(Object.keys(secret.data)).toEqual(pods);
    expect(new Set(Object.values(secret.data)).size).toBe(2);
    const { data } = find<ConfigMap>(rendered, 'ConfigMap', 'windlass-node-config');
    const env = environment(rendered, 'windlass-gateway') as Record<string, string>;
    const [read] = readNodeConfig(data?.['node.yaml'] ?? '', env, (path) => path, { keysOf: 'mcp' }).mcp_servers;
    expect([...(read?.pods ?? [])].map(([, { url, api_key: key }]) => [url, key?.reveal()])).toEqual(
      pods.map((name) => [`http://${name}:8080/mcp`, `/etc/windlass/node-secrets/windlass-mcp-programs/${name}`]),
    );
    const mounts = find<Deployment>(rendered, 'Deployment', 'windlass-gateway').spec.template.spec.volumes ?? [];
    expect(mounts.map((volume) => volume.secret?.secretName)).toContain('windlass-mcp-programs');
    expect(pods.map((name) => find<ServiceObject>(rendered, 'Service', name).spec.ports[0]?.port)).toEqual([
      8_080, 8_080,
    ]);
  });

  it('runs without a token of the API server, without privileges, and reaches public addresses alone', async () => {
    const rendered = await render(values([notes]));
    const { spec } = find<Deployment>(rendered, 'Deployment', pods[0] ?? '').spec.template;
    expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
    expect(spec.containers[0]).toMatchObject({
      image: 'notes:1',
      command: ['/windlass/runner', 'mcp', '--'],
      args: ['notes', '--quiet'],
      resources: { limits: { memory: '64Mi' } },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
    expect(spec.containers[0]?.env).toContainEqual({
      name: 'TOKEN',
      valueFrom: { secretKeyRef: { name: 'notes-token', key: 'token' } },
    });
    const own = find<NetworkPolicy>(rendered, 'NetworkPolicy', 'windlass-mcp-programs').spec;
    expect(own?.ingress).toMatchObject([
      {
        from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/component': 'gateway' } } }],
        ports: [{ port: 8_080 }],
      },
    ]);
    const outward = own?.egress?.[1];
    const except = expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']);
    expect(outward).toMatchObject({ to: [{ ipBlock: { cidr: '0.0.0.0/0', except } }, {}] });
    const gateway = find<NetworkPolicy>(rendered, 'NetworkPolicy', 'windlass-gateway').spec;
    expect(gateway?.egress).toContainEqual({
      to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'windlass-mcp-program' } } }],
      ports: [{ protocol: 'TCP', port: 8_080 }],
    });
  });

  it('is refused without tenants, by the name of the field', async () => {
    const { tenants: _, ...none } = notes;
    await expect(render(values([none]))).rejects.toThrow('nodeConfig.mcp_servers: tenants of notes is required');
  });
});

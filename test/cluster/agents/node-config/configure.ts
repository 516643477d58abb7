import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helmRelease, install } from '../../chart/release.ts';
import { chart, helm, releaseNamespace } from '../../chart/rendering.ts';
import { kubeconfigPath } from '../../harness/cluster.ts';
import type { ModelServers } from './model-servers.ts';

type Strategy = 'prefer-local' | 'round-robin' | 'failover';

export interface Change {
  readonly strategy: Strategy;
  readonly default_provider: string;
  /** Tenant of the MCP server that the installation has. */
  readonly tenant: string;
  /** The operator's settings of the judge, by the name of the tool; those of `notes` have no prefix. */
  readonly skip_judge?: {
    readonly builtin: Readonly<Record<string, boolean>>;
    readonly notes: Readonly<Record<string, boolean>>;
  };
}

/** Two providers in a cloud, and a local one. */
function providersOf({ url }: ModelServers): readonly object[] {
  const models = (...rows: readonly [alias: string, model: string][]) =>
    rows.map(([alias, model]) => ({ alias, model, capabilities: ['reasoning'], context_window: 128_000 }));
  const cloud = { type: 'openai', api_key: 'secret:windlass-models/scripted' };
  return [
    { ...cloud, name: 'one', endpoint: `${url('one')}/v1`, models: models(['default', 'one-1'], ['fast', 'one-2']) },
    {
      ...cloud,
      name: 'two',
      endpoint: `${url('two')}/v1`,
      models: models(['default', 'two-1'], ['fast', 'two-2'], ['house-own', 'two-3']),
    },
    { name: 'home', type: 'ollama', endpoint: url('home'), models: models(['default', 'home-1']) },
  ];
}

const capabilities = (by: Readonly<Record<string, boolean>>): readonly object[] =>
  Object.entries(by).map(([name, skip_judge]) => ({ name, skip_judge }));

/** Gives the installation a node configuration, which each process reads when it starts (LLM-19). */
export async function configure(servers: ModelServers, change: Change): Promise<void> {
  const { strategy, default_provider, tenant, skip_judge: skip = { builtin: {}, notes: {} } } = change;
  const [notes] = (await installedConfig()).mcp_servers;
  const nodeConfig = {
    llm_providers: providersOf(servers),
    llm_selection: { strategy, default_provider, max_retries: 1, retry_delay_ms: 50 },
    builtin_dispatchers: [{ name: 'svc', capabilities: capabilities(skip.builtin) }],
    mcp_servers: [{ ...notes, tenants: ['demo', tenant], capabilities: capabilities(skip.notes) }],
  };
  const folder = await mkdtemp(join(tmpdir(), 'windlass-node-config-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify({ nodeConfig }));
    const options = ['--reuse-values', '--force-conflicts', '--wait', '--timeout', '10m', '--values', file];
    await helmRelease('upgrade', chart, ...options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function installedConfig(): Promise<{ readonly mcp_servers: readonly object[] }> {
  const release = ['windlass', '--namespace', releaseNamespace, '--kubeconfig', kubeconfigPath()];
  const values = JSON.parse(await helm('get', 'values', ...release, '--output', 'json')) as {
    readonly nodeConfig: { readonly mcp_servers: readonly object[] };
  };
  return values.nodeConfig;
}

/** The installation as it was. */
export const restore = (): Promise<void> => install();

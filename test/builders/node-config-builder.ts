import { emptyNodeConfig, type NodeConfig } from '../../lib/node-config/index.ts';

/** A node configuration whose one provider defines these aliases; the model of each has `-1` behind its alias. */
export function aNodeConfig(...aliases: readonly string[]): NodeConfig {
  const models = aliases.map((alias) => ({
    alias,
    model: `${alias}-1`,
    capabilities: [],
    max_output_tokens: 1_000,
  }));
  return { ...emptyNodeConfig, llm_providers: [{ name: 'cloud', type: 'openai', max_concurrency: 8, models }] };
}

/** Settings of a process that drives agents from its parent, as JSON in its first argument. */
export interface AgentSetup {
  readonly natsUrl: string;
  /** Where the provider answers. */
  readonly modelUrl: string;
}

export const agentTenant = 'acme';
/** Its name at the provider. */
export const modelName = 'bench-1';

/** One provider that speaks OpenAI's protocol, with room for every execution of the benchmark. */
export const nodeConfigOf = ({ modelUrl }: Pick<AgentSetup, 'modelUrl'>): string => `
apiVersion: windlass.dev/v1
kind: NodeConfig
spec:
  llm_providers:
    - name: bench
      type: openai
      base_url: ${modelUrl}
      api_key: env:KEY
      max_concurrency: 1000
      models:
        - { alias: default, model: ${modelName}, context_window: 128000 }
`;

import { type Static, Type } from 'typebox';
import { imageReferencePattern } from '../../crds/image-reference.ts';
import { limits } from '../../crds/limits.ts';
import { mapOf, oneOf } from '../../crds/schema/parts.ts';

/** Our ceilings for the file of the installation; the specification gives none. */
export const nodeConfigLimits = {
  fileBytes: 256 * 1_024,
  providers: 50,
  modelsPerProvider: 200,
  dispatchers: 50,
  capabilities: 200,
  mcpServers: 50,
  /** Tenants of one MCP server over stdio: each has a pod of it. */
  programTenants: 32,
  runtimes: 200,
  prices: 2_000,
  networks: 64,
  keyLength: 8_192,
  /** Output of a command; a pod may report as much of each stream. */
  outputBytes: 4 * 1_024 * 1_024,
} as const;

const closed = { additionalProperties: false } as const;
const name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' });
const endpoint = Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 }));
/** A literal, `env:VARIABLE` or `secret:NAME/KEY`. */
const apiKey = Type.Optional(Type.String({ minLength: 1, maxLength: nodeConfigLimits.keyLength }));
const tokens = (maximum: number) => Type.Optional(Type.Integer({ minimum: 1, maximum }));

const Model = Type.Object(
  {
    alias: Type.String({ minLength: 1, maxLength: 63 }),
    model: Type.String({ minLength: 1, maxLength: 256 }),
    capabilities: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 50 })),
    context_window: tokens(100_000_000),
    max_output_tokens: tokens(10_000_000),
  },
  closed,
);

const Provider = Type.Object(
  {
    name,
    type: oneOf(['openai', 'anthropic', 'ollama']),
    api_key: apiKey,
    endpoint,
    base_url: endpoint,
    api_version: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{1,63}$' })),
    max_concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    tokens_per_minute: tokens(1_000_000_000),
    models: Type.Array(Model, { minItems: 1, maxItems: nodeConfigLimits.modelsPerProvider }),
  },
  closed,
);

const Selection = Type.Object(
  {
    strategy: Type.Optional(oneOf(['prefer-local', 'round-robin', 'failover'])),
    default_provider: Type.Optional(name),
    max_retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    retry_delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
  },
  closed,
);

const toolName = Type.String({ minLength: 1, maxLength: limits.toolNameLength });

const networks = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: nodeConfigLimits.networks }),
);

const Dispatcher = Type.Object(
  {
    name: toolName,
    api_key: apiKey,
    provider: Type.Optional(oneOf(['brave', 'tavily', 'searxng'])),
    endpoint,
    max_output_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: nodeConfigLimits.outputBytes })),
    timeout_ceiling_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    /** Internal networks that `web.fetch` may reach. */
    allow_internal_addresses: networks,
    /** Networks of nodes, pods and Services of this cluster. */
    cluster_networks: networks,
    capabilities: Type.Optional(
      Type.Array(Type.Object({ name: toolName, skip_judge: Type.Optional(Type.Boolean()) }, closed), {
        maxItems: nodeConfigLimits.capabilities,
      }),
    ),
  },
  closed,
);

/** Begins the names of a server's tools. */
const serverName = Type.String({ pattern: '^[a-z][a-z0-9-]{0,30}$' });

const imageReference = Type.String({
  minLength: 1,
  maxLength: limits.imageReferenceLength,
  pattern: imageReferencePattern,
});
const argument = Type.String({ maxLength: 4_096 });

const McpServer = Type.Object(
  {
    name: serverName,
    transport: Type.Optional(oneOf(['streamable-http', 'stdio'])),
    /** For streamable HTTP, which needs it. */
    url: endpoint,
    /** These five are of stdio, which needs the first two. */
    image: Type.Optional(imageReference),
    command: Type.Optional(Type.Array(argument, { minItems: 1, maxItems: 64 })),
    args: Type.Optional(Type.Array(argument, { maxItems: 64 })),
    /** A literal or `secret:NAME/KEY`. */
    env: Type.Optional(mapOf(Type.String({ maxLength: 4_096 }), { maxProperties: 64 })),
    memory_mb: Type.Optional(Type.Integer({ minimum: 16, maximum: 16_384 })),
    /** `env:VARIABLE` or `secret:NAME/KEY`. */
    api_key: apiKey,
    api_key_header: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$" })),
    tenants: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 1_000 })),
    tools: Type.Optional(Type.Array(toolName, { maxItems: nodeConfigLimits.capabilities })),
    allow_internal_addresses: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 32 })),
    timeout_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
    capabilities: Type.Optional(
      Type.Array(Type.Object({ name: toolName, skip_judge: Type.Optional(Type.Boolean()) }, closed), {
        maxItems: nodeConfigLimits.capabilities,
      }),
    ),
  },
  closed,
);

const word = Type.String({ minLength: 1, maxLength: 63 });

const Runtime = Type.Object(
  {
    language: word,
    version: word,
    image: imageReference,
  },
  closed,
);

const runtimeClass = Type.Optional(
  Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$', maxLength: limits.objectNameLength }),
);

const price = Type.Number({ minimum: 0, maximum: 1_000_000 });

const NodeConfigSpec = Type.Object(
  {
    llm_providers: Type.Optional(Type.Array(Provider, { maxItems: nodeConfigLimits.providers })),
    llm_selection: Type.Optional(Selection),
    builtin_dispatchers: Type.Optional(Type.Array(Dispatcher, { maxItems: nodeConfigLimits.dispatchers })),
    mcp_servers: Type.Optional(Type.Array(McpServer, { maxItems: nodeConfigLimits.mcpServers })),
    runtimes: Type.Optional(Type.Array(Runtime, { maxItems: nodeConfigLimits.runtimes })),
    isolation: Type.Optional(
      Type.Object(
        { inherit: runtimeClass, firecracker: runtimeClass, docker: runtimeClass, process: runtimeClass },
        closed,
      ),
    ),
    prices: Type.Optional(
      mapOf(Type.Object({ input_per_million: price, output_per_million: price }, closed), {
        maxProperties: nodeConfigLimits.prices,
      }),
    ),
  },
  closed,
);
export type NodeConfigSpec = Static<typeof NodeConfigSpec>;

/** The whole file. `apiVersion` and `kind` may be written, and mean nothing else than this. */
export const NodeConfigFile = Type.Object(
  {
    apiVersion: Type.Optional(oneOf(['windlass.dev/v1'])),
    kind: Type.Optional(oneOf(['NodeConfig'])),
    spec: NodeConfigSpec,
  },
  closed,
);
export type NodeConfigFile = Static<typeof NodeConfigFile>;

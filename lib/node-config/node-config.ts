import type { NodeConfigSpec } from './schema.ts';
import type { Secret } from './secret.ts';

type Spec = Required<NodeConfigSpec>;
type FileProvider = Spec['llm_providers'][number];
type FileModel = FileProvider['models'][number];
type FileDispatcher = Spec['builtin_dispatchers'][number];
type FileServer = Spec['mcp_servers'][number];

export type ProviderType = FileProvider['type'];
type SelectionStrategy = NonNullable<Spec['llm_selection']['strategy']>;

/** One model that a provider serves (spec 1 §2.7). */
export interface NodeModel extends Readonly<Pick<FileModel, 'alias' | 'model' | 'context_window'>> {
  readonly capabilities: readonly string[];
  readonly max_output_tokens: number;
}

/** One provider of models (spec 1 §2.7). */
export interface LlmProvider
  extends Readonly<Pick<FileProvider, 'name' | 'type' | 'api_version' | 'tokens_per_minute'>> {
  readonly api_key?: Secret;
  /** `endpoint` or `base_url` of the file; absent: the default address of the type. */
  readonly endpoint?: string;
  /** Requests that one process sends to it at once. */
  readonly max_concurrency: number;
  readonly models: readonly NodeModel[];
}

interface LlmSelection {
  readonly strategy: SelectionStrategy;
  /** Name of a provider that exists; absent: the first one that defines the alias. */
  readonly default_provider?: string;
  /** Attempts in addition to the first one (requirements AMB-091). */
  readonly max_retries: number;
  readonly retry_delay_ms: number;
}

/** Settings of the tools of one built-in dispatcher, such as `cmd` or `web.search`. */
export interface BuiltinDispatcher
  extends Readonly<
    Pick<
      FileDispatcher,
      | 'name'
      | 'provider'
      | 'endpoint'
      | 'max_output_bytes'
      | 'timeout_ceiling_secs'
      | 'allow_internal_addresses'
      | 'cluster_networks'
    >
  > {
  readonly api_key?: Secret;
  readonly capabilities: readonly ToolCapability[];
}

/** An operator's settings for one tool (spec 3 §10.1). */
interface ToolCapability {
  readonly name: string;
  /** Absent: the default of the tool. */
  readonly skip_judge?: boolean;
}

/** One server of the Model Context Protocol, over streamable HTTP. */
export interface McpServerEntry
  extends Readonly<Pick<FileServer, 'name' | 'api_key_header' | 'tenants' | 'tools' | 'timeout_secs'>> {
  readonly url: string;
  /** Absent as well where this process does not read it. */
  readonly api_key?: Secret;
  /** The pod of each tenant, for a server over stdio. The fields above are then those of the first one, which lists. */
  readonly pods?: ReadonlyMap<string, McpPod>;
  /** Internal networks in which the server may be, in CIDR form. */
  readonly allow_internal_addresses: readonly string[];
  readonly capabilities: readonly ToolCapability[];
}

/** The pod of a program that speaks over its input and output. */
export interface McpPod {
  readonly url: string;
  /** Absent where this process does not read it. */
  readonly api_key?: Secret;
}

/** The image of one version of a language. */
type NodeRuntime = Readonly<Spec['runtimes'][number]>;

type Isolation = keyof Spec['isolation'];

/** USD for a million tokens. */
export type ModelPrice = Readonly<Spec['prices'][string]>;

/** The configuration of one installation, checked and complete. */
export interface NodeConfig {
  readonly llm_providers: readonly LlmProvider[];
  readonly llm_selection: LlmSelection;
  readonly builtin_dispatchers: readonly BuiltinDispatcher[];
  /** Called by the gateway alone. */
  readonly mcp_servers: readonly McpServerEntry[];
  readonly runtimes: readonly NodeRuntime[];
  /** RuntimeClass of each isolation; absent: none, and `process` is then not permitted (requirements AMB-081). */
  readonly isolation: Readonly<Partial<Record<Isolation, string>>>;
  /** By the identifier of the model that the provider knows. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
}

/** A warning about a valid field: it works, and an operator had better change it. */
export interface NodeConfigWarning {
  readonly path: string;
  readonly message: string;
}

/** The configuration of an installation that has no file. */
export const emptyNodeConfig: NodeConfig = {
  llm_providers: [],
  llm_selection: { strategy: 'failover', max_retries: 2, retry_delay_ms: 1_000 },
  builtin_dispatchers: [],
  mcp_servers: [],
  runtimes: [],
  isolation: {},
  prices: {},
};

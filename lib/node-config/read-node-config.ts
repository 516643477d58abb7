import { createHash } from 'node:crypto';
import { formatPlace, type Place, type Problem } from '../../crds/problem.ts';
import { createValidator } from '../../crds/validators.ts';
import { ConfigError, type Environment } from '../config.ts';
import { defined } from '../defined.ts';
import { readDocuments } from '../manifest/yaml-document.ts';
import { builtInNameProblem } from '../tools/known-names.ts';
import { checkRules } from './check-rules.ts';
import { type KeyFindings, type KeySources, type ReadSecret, readSecretFile, resolveKey } from './key-reference.ts';
import {
  type BuiltinDispatcher,
  emptyNodeConfig,
  type LlmProvider,
  type McpPod,
  type McpServerEntry,
  type NodeConfig,
  type NodeConfigWarning,
} from './node-config.ts';
import { NodeConfigFile, nodeConfigLimits, type NodeConfigSpec } from './schema.ts';
import type { Secret } from './secret.ts';

/** Problems that one error lists; a reader stops after so many. */
const problemsShown = 100;

const validate = createValidator(NodeConfigFile);

/** Entries whose keys a process reads: those that it calls. */
export type KeyReader = 'models' | 'mcp';

interface ReadOptions {
  /** Default `models`: providers and dispatchers. */
  readonly keysOf?: KeyReader;
  /** Hears of fields that work and had better be changed. */
  readonly onWarning?: (warning: NodeConfigWarning) => void;
}

/**
 * Reads the node configuration: one YAML file per installation (spec 1 §2.7). Keys are read once, here, and kept in
 * memory alone.
 * @throws ConfigError, which lists every problem with its path and holds no key.
 */
export function readNodeConfig(
  text: string,
  env: Environment,
  readSecret: ReadSecret = readSecretFile,
  { keysOf = 'models', onWarning = () => undefined }: ReadOptions = {},
): NodeConfig {
  const file = parse(text);
  refuse(validate(file));
  // The validator has just said so.
  const { spec } = file as NodeConfigFile;
  const problems = [...checkRules(spec)];
  const findings: KeyFindings = {
    problem: (at, message) => {
      problems.push({ at, path: formatPlace(at), message, rule: 'api_key', severity: 'error' });
    },
    warning: (at, message) => onWarning({ path: formatPlace(at), message }),
  };
  const config = toConfig(spec, keyReader({ env, readSecret }, findings), keysOf);
  refuse(problems);
  uselessCapabilities(spec).forEach(onWarning);
  return config;
}

/** No file of an earlier version keeps a process from its start for an entry that has no effect. */
const uselessCapabilities = ({ builtin_dispatchers: dispatchers = [] }: NodeConfigSpec): NodeConfigWarning[] =>
  dispatchers.flatMap(({ capabilities = [] }, index) =>
    capabilities.flatMap(({ name }, place) => {
      const problem = builtInNameProblem(name);
      if (problem === undefined) return [];
      const at = ['spec', 'builtin_dispatchers', index, 'capabilities', place, 'name'];
      return [{ path: formatPlace(at), message: `has no effect: ${problem}` }];
    }),
  );

function parse(text: string): unknown {
  const bytes = Buffer.byteLength(text);
  if (bytes > nodeConfigLimits.fileBytes) {
    throw whole(`has ${bytes} bytes; at most ${nodeConfigLimits.fileBytes} are read`);
  }
  const [document, second] = readDocuments(text);
  if (document === undefined) throw whole('is empty; it must hold a map with the field spec');
  if (second !== undefined) throw whole('has more than one YAML document; keep one');
  if (document.problems.length > 0) {
    throw new ConfigError(
      document.problems.map(({ line, column, message }) => ({
        name: `node configuration, line ${line}, column ${column}`,
        problem: withoutQuotation(message),
      })),
    );
  }
  return document.value;
}

const whole = (problem: string): ConfigError => new ConfigError([{ name: 'node configuration', problem }]);

function refuse(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  throw new ConfigError(
    problems.slice(0, problemsShown).map(({ path, message, rule }) => ({
      name: path === '' ? 'node configuration' : path,
      problem: rule === 'type' ? withoutValue(message) : message,
    })),
  );
}

/** The YAML library quotes the text behind a colon or at the end, where a key might be. */
const withoutQuotation = (message: string): string => message.replace(/(:| sequence | tag ).*$/s, '');

/** A wrong value may be a key that was written in the wrong place. */
const withoutValue = (message: string): string =>
  message
    .replace(/, not the (\w+) .*$/s, ', not a $1')
    .replace('a whole number, not a number', 'a whole number, without a fraction');

/** The key that a field names. */
type KeyAt = (text: string | undefined, at: Place) => Secret | undefined;

const keyReader =
  (sources: KeySources, findings: KeyFindings): KeyAt =>
  (text, at) =>
    resolveKey(text, at, sources, findings);

const unread: KeyAt = () => undefined;

function toConfig(spec: NodeConfigSpec, keyAt: KeyAt, keysOf: KeyReader): NodeConfig {
  const [models, servers] = keysOf === 'models' ? [keyAt, unread] : [unread, keyAt];
  return {
    llm_providers: toProviders(spec, models),
    llm_selection: { ...emptyNodeConfig.llm_selection, ...spec.llm_selection },
    builtin_dispatchers: toDispatchers(spec, models),
    mcp_servers: toServers(spec, servers),
    runtimes: spec.runtimes ?? [],
    isolation: spec.isolation ?? {},
    prices: spec.prices ?? {},
  };
}

/** Requests that a provider gets at once where its entry says nothing. */
const concurrencyDefault = 16;
/** requirements LLM-12. */
const outputTokensDefault = 8_192;

function toProviders({ llm_providers = [] }: NodeConfigSpec, keyAt: KeyAt): LlmProvider[] {
  return llm_providers.map(({ api_key, endpoint, base_url, models, ...rest }, index) => ({
    max_concurrency: concurrencyDefault,
    ...rest,
    models: models.map((model) => ({ capabilities: [], max_output_tokens: outputTokensDefault, ...model })),
    ...defined({
      endpoint: endpoint ?? base_url,
      api_key: keyAt(api_key, ['spec', 'llm_providers', index, 'api_key']),
    }),
  }));
}

function toDispatchers(spec: NodeConfigSpec, keyAt: KeyAt): BuiltinDispatcher[] {
  const { builtin_dispatchers: dispatchers = [] } = spec;
  return dispatchers.map(({ api_key, ...rest }, index) => ({
    capabilities: [],
    ...rest,
    ...defined({
      api_key: keyAt(api_key, ['spec', 'builtin_dispatchers', index, 'api_key']),
    }),
  }));
}

function toServers({ mcp_servers: servers = [] }: NodeConfigSpec, keyAt: KeyAt): McpServerEntry[] {
  return servers.map((server, index) => {
    const at = ['spec', 'mcp_servers', index];
    const { name, tenants, tools, timeout_secs, capabilities = [] } = server;
    const common = { name, capabilities, ...defined({ tenants, tools, timeout_secs }) };
    if (server.transport === 'stdio') return { ...common, ...programOf(name, tenants ?? [], at, keyAt) };
    return {
      ...common,
      url: server.url ?? '',
      allow_internal_addresses: server.allow_internal_addresses ?? [],
      ...defined({
        api_key: keyAt(server.api_key, [...at, 'api_key']),
        api_key_header: server.api_key_header,
      }),
    };
  });
}

/** Service, pod and key of one MCP server over stdio and one tenant. The chart makes all three by the same names. */
interface ProgramPod {
  readonly url: string;
  /** Reference to the key that its clients have to show. */
  readonly key: string;
}

/** Secret with the keys of all such pods, which the chart makes. */
const keys = 'windlass-mcp-programs';
const port = 8_080;

/** A hash in place of the tenant: a slug may be longer than what a name has left, and could end like another server's name. */
function addressOfPod(server: string, tenant: string): ProgramPod {
  const name = `mcp-${server}-${createHash('sha256').update(tenant).digest('hex').slice(0, 10)}`;
  return { url: `http://${name}:${port}/mcp`, key: `secret:${keys}/${name}` };
}

/** Every pod has a key of its own, so that no program can call that of another tenant. */
function programOf(
  name: string,
  tenants: readonly string[],
  at: Place,
  keyAt: KeyAt,
): Pick<McpServerEntry, 'url' | 'api_key' | 'allow_internal_addresses' | 'pods'> {
  const podOf = (tenant: string): McpPod => {
    const { url, key } = addressOfPod(name, tenant);
    return { url, ...defined({ api_key: keyAt(key, at) }) };
  };
  const pods = new Map(tenants.map((tenant) => [tenant, podOf(tenant)]));
  const [first = { url: '' }] = pods.values();
  // The name of a Service that the chart makes in the namespace of the gateway, wherever the cluster has its addresses.
  return { ...first, pods, allow_internal_addresses: ['0.0.0.0/0', '::/0'] };
}

import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { checkServers } from './check-servers.ts';
import { checkNetwork, checkUrl, repeated } from './rules.ts';
import type { NodeConfigSpec } from './schema.ts';

type FileProvider = NonNullable<NodeConfigSpec['llm_providers']>[number];
type FileDispatcher = NonNullable<NodeConfigSpec['builtin_dispatchers']>[number];

/** Rules beyond the schema: names that repeat or do not exist, and fields that do not belong together. */
export function checkRules(spec: NodeConfigSpec): readonly Problem[] {
  const { llm_providers: providers = [], builtin_dispatchers: dispatchers = [], runtimes = [] } = spec;
  return [
    ...repeated(providers, ['spec', 'llm_providers'], 'name', ({ name }) => name),
    ...providers.flatMap((provider, index) => checkProvider(provider, ['spec', 'llm_providers', index])),
    ...checkDefaultProvider(spec),
    ...repeated(dispatchers, ['spec', 'builtin_dispatchers'], 'name', ({ name }) => name),
    ...dispatchers.flatMap((dispatcher, index) => checkDispatcher(dispatcher, ['spec', 'builtin_dispatchers', index])),
    ...checkServers(spec),
    ...repeated(runtimes, ['spec', 'runtimes'], 'version', ({ language, version }) => `${language}\n${version}`),
  ];
}

function checkProvider(provider: FileProvider, at: Place): Problem[] {
  const { type, models, api_key: key } = provider;
  const missing = type !== 'ollama' && key === undefined;
  return [
    ...(missing ? [errorAt([...at, 'api_key'], 'required', `is required for a provider of type ${type}`)] : []),
    ...checkAddress(provider, at),
    ...checkVersion(provider, at),
    ...repeated(models, [...at, 'models'], 'alias', ({ alias }) => alias),
  ];
}

function checkAddress({ type, endpoint, base_url }: FileProvider, at: Place): Problem[] {
  if (endpoint !== undefined && base_url !== undefined) {
    return [errorAt([...at, 'base_url'], 'exclusive', 'is another name of endpoint; give one of the two')];
  }
  const address = endpoint ?? base_url;
  if (address === undefined) {
    const message = 'is required for a provider of type ollama, as http://ollama.models:11434';
    return type === 'ollama' ? [errorAt([...at, 'endpoint'], 'required', message)] : [];
  }
  return checkUrl(address, [...at, endpoint === undefined ? 'base_url' : 'endpoint']);
}

function checkVersion({ type, api_version, endpoint, base_url }: FileProvider, at: Place): Problem[] {
  if (api_version === undefined) return [];
  const place = [...at, 'api_version'];
  if (type !== 'openai') return [errorAt(place, 'foreign', 'belongs to a provider of type openai alone; leave it out')];
  const hasAddress = endpoint !== undefined || base_url !== undefined;
  return hasAddress ? [] : [errorAt([...at, 'endpoint'], 'required', 'is required where api_version is given')];
}

function checkDefaultProvider({ llm_providers: providers = [], llm_selection: selection }: NodeConfigSpec): Problem[] {
  const wanted = selection?.default_provider;
  if (wanted === undefined || providers.some(({ name }) => name === wanted)) return [];
  const message = 'must be the name of an entry of spec.llm_providers';
  return [errorAt(['spec', 'llm_selection', 'default_provider'], 'unknown', message)];
}

/** Fields that one dispatcher alone has. */
const ownFields = {
  cmd: ['max_output_bytes', 'timeout_ceiling_secs'],
  'web.search': ['api_key', 'provider', 'endpoint'],
  'web.fetch': ['allow_internal_addresses', 'cluster_networks'],
} as const;

function checkDispatcher(dispatcher: FileDispatcher, at: Place): Problem[] {
  const { name, endpoint, provider, capabilities = [] } = dispatcher;
  const foreign = Object.entries(ownFields).flatMap(([owner, fields]) =>
    fields
      .filter((field) => owner !== name && dispatcher[field] !== undefined)
      .map((field) => errorAt([...at, field], 'foreign', `belongs to the dispatcher ${owner} alone; leave it out`)),
  );
  const needsAddress = provider === 'searxng' && endpoint === undefined;
  return [
    ...foreign,
    ...(endpoint === undefined ? [] : checkUrl(endpoint, [...at, 'endpoint'])),
    ...(needsAddress ? [errorAt([...at, 'endpoint'], 'required', 'is required for the provider searxng')] : []),
    ...checkNetworks(dispatcher, at),
    ...repeated(capabilities, [...at, 'capabilities'], 'name', (capability) => capability.name),
  ];
}

const networkFields = ['allow_internal_addresses', 'cluster_networks'] as const;

/** No wide network opens those of the cluster, so these have to be known (ADR 0110). */
function checkNetworks(dispatcher: FileDispatcher, at: Place): Problem[] {
  const problems = networkFields.flatMap((field) =>
    (dispatcher[field] ?? []).flatMap((network, index) => checkNetwork(network, [...at, field, index])),
  );
  const { name, allow_internal_addresses: opened = [], cluster_networks: own = [] } = dispatcher;
  if (name !== 'web.fetch' || opened.length === 0 || own.length > 0) return problems;
  const message =
    'is required beside allow_internal_addresses: the networks of nodes, pods and Services of this cluster';
  return [...problems, errorAt([...at, 'cluster_networks'], 'required', message)];
}

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError, type Environment } from '../config.ts';
import type { ReadSecret } from './key-reference.ts';
import type { NodeConfig, NodeConfigWarning } from './node-config.ts';
import { readNodeConfig } from './read-node-config.ts';

const key = 'sk-hunter2-hunter2';
const noSecrets: ReadSecret = () => {
  throw new Error(`no ${key}`);
};

const read = (spec: object, env: Environment = {}, readSecret: ReadSecret = noSecrets): NodeConfig =>
  readNodeConfig(JSON.stringify({ spec }), env, readSecret);

/** The problems as `path: text`; none of them may hold the key. */
function problemsOf(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ConfigError) || inspect(error, { depth: 9 }).includes(key)) throw error;
    return error.problems.map(({ name, problem }) => `${name}: ${problem}`);
  }
  return [];
}

const model = { alias: 'default', model: 'big-1' };
const provider = (fields: object = {}): object => ({
  name: 'cloud',
  type: 'openai',
  api_key: 'env:KEY',
  models: [model],
  ...fields,
});
const env = { KEY: key };
const withProviders = (...providers: object[]) => ({ llm_providers: providers });

describe('readNodeConfig', () => {
  it('LLM-01 LLM-09 LLM-10 LLM-11 LLM-12 gives every part, with defaults', () => {
    const config = readNodeConfig(
      `
apiVersion: windlass.dev/v1
kind: NodeConfig
spec:
  llm_providers:
    - name: cloud
      type: openai
      api_key: env:KEY
      models:
        - { alias: default, model: big-1, capabilities: [code], context_window: 128000 }
        - { alias: fast, model: small-1, max_output_tokens: 100 }
  llm_selection: { strategy: round-robin, default_provider: cloud, max_retries: 3, retry_delay_ms: 0 }
  builtin_dispatchers:
    - { name: cmd, max_output_bytes: 1000, timeout_ceiling_secs: 60, capabilities: [{ name: cmd.run, skip_judge: true }] }
    - { name: web.search, api_key: env:KEY, provider: tavily }
  mcp_servers: []
  runtimes: [{ language: python, version: "3.12", image: docker.io/library/python:3.12 }]
  isolation: { firecracker: kata-fc, process: runc }
  prices: { big-1: { input_per_million: 2.5, output_per_million: 10 } }
`,
      env,
    );
    const [cloud] = config.llm_providers;
    expect(cloud).toMatchObject({ name: 'cloud', type: 'openai', max_concurrency: 16 });
    expect(cloud?.api_key?.reveal()).toBe(key);
    expect(cloud?.models).toEqual([
      { alias: 'default', model: 'big-1', capabilities: ['code'], context_window: 128_000, max_output_tokens: 8_192 },
      { alias: 'fast', model: 'small-1', capabilities: [], max_output_tokens: 100 },
    ]);
    expect(config.llm_selection).toEqual({
      strategy: 'round-robin',
      default_provider: 'cloud',
      max_retries: 3,
      retry_delay_ms: 0,
    });
    expect(config.builtin_dispatchers[0]).toEqual({
      name: 'cmd',
      max_output_bytes: 1_000,
      timeout_ceiling_secs: 60,
      capabilities: [{ name: 'cmd.run', skip_judge: true }],
    });
    expect(config.builtin_dispatchers[1]?.api_key?.reveal()).toBe(key);
    expect(config.runtimes).toEqual([{ language: 'python', version: '3.12', image: 'docker.io/library/python:3.12' }]);
    expect(config.isolation).toEqual({ firecracker: 'kata-fc', process: 'runc' });
    expect(config.prices).toEqual({ 'big-1': { input_per_million: 2.5, output_per_million: 10 } });
  });

  it('gives an empty configuration with defaults for an empty spec', () => {
    expect(read({})).toEqual({
      llm_providers: [],
      llm_selection: { strategy: 'failover', max_retries: 2, retry_delay_ms: 1_000 },
      builtin_dispatchers: [],
      mcp_servers: [],
      runtimes: [],
      isolation: {},
      prices: {},
    });
  });

  it('LLM-03 LLM-08 LLM-09 lists every problem with its path, in one error', () => {
    const spec = {
      llm_providers: [
        { type: 'openai', api_key: 'env:KEY', models: [model] },
        provider({ name: 'second', models: undefined }),
        provider({ name: 'third', models: [{ alias: 'default' }, { model: 'x' }] }),
        provider({ name: 'fourth', models: [] }),
      ],
      llm_selection: { strategy: 'random', max_retries: -1 },
      llm_provider: [],
    };
    const problems = problemsOf(() => read(spec, env));
    expect(problems).toHaveLength(8);
    expect(problems).toEqual(
      expect.arrayContaining([
        'spec.llm_providers[0].name: is required',
        'spec.llm_providers[1].models: is required',
        'spec.llm_providers[2].models[0].model: is required',
        'spec.llm_providers[2].models[1].alias: is required',
        'spec.llm_providers[3].models: must have at least 1 item',
        'spec.llm_selection.strategy: must be one of prefer-local, round-robin, failover',
        'spec.llm_selection.max_retries: must be at least 0, not -1',
        'spec.llm_provider: unknown field; did you mean llm_providers?',
      ]),
    );
  });

  it.each(['openai', 'anthropic'])('LLM-04 LLM-05 asks for the key of the type %s', (type) => {
    const spec = withProviders(provider({ type, api_key: undefined }));
    expect(problemsOf(() => read(spec))).toEqual([
      `spec.llm_providers[0].api_key: is required for a provider of type ${type}`,
    ]);
    expect(read(withProviders(provider({ type })), env).llm_providers[0]?.type).toBe(type);
  });

  it('LLM-04 asks for a type', () => {
    expect(problemsOf(() => read(withProviders(provider({ type: undefined })), env))).toEqual([
      'spec.llm_providers[0].type: is required',
    ]);
  });

  const modelProblems = (fields: object): string[] =>
    problemsOf(() => read(withProviders(provider({ models: [{ ...model, ...fields }] })), env)).map((text) =>
      text.replace('spec.llm_providers[0].models[0].', ''),
    );

  it.each([
    ['alias', 63],
    ['model', 256],
  ])('LLM-09 a model has 1 to %2$i characters in its %1$s', (field, most) => {
    const found = [0, 1, most - 1, most, most + 1].map((length) => modelProblems({ [field]: 'x'.repeat(length) }));
    const bound = [
      [`${field}: must have at least 1 character`],
      [],
      [],
      [],
      [`${field}: must have at most ${most} characters`],
    ];
    expect(found).toEqual(bound);
  });

  it.each<[string, string, unknown, readonly string[]]>([
    ['LLM-10', 'capabilities', ['code', 'reasoning', 'vision', 'singing'], []],
    ['LLM-10', 'capabilities', [], []],
    ['LLM-10', 'capabilities', 'code', ['capabilities: must be a list, not a string']],
    ['LLM-10', 'capabilities', [1], ['capabilities[0]: must be a string, not a number']],
    ['LLM-11', 'context_window', 0, ['context_window: must be at least 1, not 0']],
    ['LLM-11', 'context_window', 1, []],
    ['LLM-11', 'context_window', 1.5, ['context_window: must be a whole number, without a fraction']],
    ['LLM-11', 'context_window', '8k', ['context_window: must be a whole number, not a string']],
  ])('%s a model with the %s %j has the problems %j', (_id, field, value, want) => {
    expect(modelProblems({ [field]: value })).toEqual(want);
  });

  it('LLM-04 refuses an unknown type', () => {
    expect(problemsOf(() => read(withProviders(provider({ type: 'mistral' })), env))).toEqual([
      'spec.llm_providers[0].type: must be one of openai, anthropic, ollama',
    ]);
  });

  it('LLM-05 LLM-06 takes an ollama without a key, and asks for its address', () => {
    const ollama = { name: 'local', type: 'ollama', models: [model] };
    expect(problemsOf(() => read(withProviders(ollama)))).toEqual([
      'spec.llm_providers[0].endpoint: is required for a provider of type ollama, as http://ollama.models:11434',
    ]);
    const address = 'http://ollama.models:11434';
    expect(read(withProviders({ ...ollama, endpoint: address })).llm_providers[0]?.endpoint).toBe(address);
    expect(read(withProviders({ ...ollama, base_url: address })).llm_providers[0]?.endpoint).toBe(address);
    expect(problemsOf(() => read(withProviders({ ...ollama, endpoint: address, base_url: address })))).toEqual([
      'spec.llm_providers[0].base_url: is another name of endpoint; give one of the two',
    ]);
  });

  it.each([
    'ftp://models',
    `https://user:${key}@models`,
    `https://models/?key=${key}`,
    `https://models/#${key}`,
    'models',
  ])('refuses the address %s, without showing it', (endpoint) => {
    expect(problemsOf(() => read(withProviders(provider({ endpoint })), env))).toEqual([
      'spec.llm_providers[0].endpoint: must be a URL with http or https, without user, query and fragment',
    ]);
  });

  it('LLM-07 takes api_version for an openai with an address alone', () => {
    const api_version = '2024-10-21';
    const hosted = provider({ api_version, endpoint: 'https://example.com' });
    expect(read(withProviders(hosted), env).llm_providers[0]?.api_version).toBe(api_version);
    expect(problemsOf(() => read(withProviders(provider({ api_version })), env))).toEqual([
      'spec.llm_providers[0].endpoint: is required where api_version is given',
    ]);
    expect(problemsOf(() => read(withProviders(provider({ type: 'anthropic', api_version })), env))).toEqual([
      'spec.llm_providers[0].api_version: belongs to a provider of type openai alone; leave it out',
    ]);
  });

  it('refuses names that are given twice or do not exist', () => {
    const spec = {
      llm_providers: [provider({ models: [model, model] }), provider()],
      llm_selection: { default_provider: 'absent' },
      builtin_dispatchers: [{ name: 'fs' }, { name: 'fs' }],
      runtimes: [1, 2].map(() => ({ language: 'python', version: '3', image: 'python' })),
    };
    expect(problemsOf(() => read(spec, env))).toEqual([
      'spec.llm_providers[1].name: is given twice; keep one',
      'spec.llm_providers[0].models[1].alias: is given twice; keep one',
      'spec.llm_selection.default_provider: must be the name of an entry of spec.llm_providers',
      'spec.builtin_dispatchers[1].name: is given twice; keep one',
      'spec.runtimes[1].version: is given twice; keep one',
    ]);
  });

  it.each([4_194_303, 4_194_304])('TOOL-CMD-09 takes max_output_bytes of %i', (bytes) => {
    const spec = { builtin_dispatchers: [{ name: 'cmd', max_output_bytes: bytes }] };
    expect(read(spec, env).builtin_dispatchers).toMatchObject([{ max_output_bytes: bytes }]);
  });

  it('TOOL-CMD-09 refuses max_output_bytes above 4 MiB', () => {
    const spec = { builtin_dispatchers: [{ name: 'cmd', max_output_bytes: 4_194_305 }] };
    expect(problemsOf(() => read(spec, env))).toEqual([
      expect.stringContaining('spec.builtin_dispatchers[0].max_output_bytes'),
    ]);
  });

  it.each([
    ['cmd.run', undefined],
    ['cmd', 'there is no built-in tool cmd; did you mean cmd.run?'],
    ['cmd.runn', 'there is no built-in tool cmd.runn; did you mean cmd.run?'],
    ['web.get', 'there is no built-in tool web.get; web.* has web.fetch, web.search'],
    ['orders.place', 'there is no built-in tool orders.place; svc.tools.list names those there are'],
  ])('TOOL-RULE-04 warns of a capability %s that names no tool', (name, problem) => {
    const warnings: unknown[] = [];
    const spec = { builtin_dispatchers: [{ name: 'cmd', capabilities: [{ name, skip_judge: true }] }] };
    readNodeConfig(JSON.stringify({ spec }), env, undefined, { onWarning: (warning) => warnings.push(warning) });
    const path = 'spec.builtin_dispatchers[0].capabilities[0].name';
    expect(warnings).toEqual(problem === undefined ? [] : [{ path, message: `has no effect: ${problem}` }]);
  });

  it('refuses fields that belong to another dispatcher, and a searxng without an address', () => {
    const spec = {
      builtin_dispatchers: [
        { name: 'fs', api_key: 'env:KEY', max_output_bytes: 1 },
        { name: 'web.search', provider: 'searxng', timeout_ceiling_secs: 1 },
      ],
    };
    expect(problemsOf(() => read(spec, env))).toEqual([
      'spec.builtin_dispatchers[0].max_output_bytes: belongs to the dispatcher cmd alone; leave it out',
      'spec.builtin_dispatchers[0].api_key: belongs to the dispatcher web.search alone; leave it out',
      'spec.builtin_dispatchers[1].timeout_ceiling_secs: belongs to the dispatcher cmd alone; leave it out',
      'spec.builtin_dispatchers[1].endpoint: is required for the provider searxng',
    ]);
  });

  it('AMB-139 gives the networks that web.fetch may reach, and refuses what is none, and those without the networks of the cluster', () => {
    const entry = {
      name: 'web.fetch',
      allow_internal_addresses: ['10.20.0.0/16'],
      cluster_networks: ['10.244.0.0/16'],
    };
    expect(read({ builtin_dispatchers: [entry] }, env).builtin_dispatchers).toMatchObject([entry]);
    const wrong = { ...entry, allow_internal_addresses: ['10.20.0.1', '10.0.0.0/33'], cluster_networks: ['pods'] };
    const other = { ...entry, name: 'web.search', api_key: 'env:KEY' };
    const { cluster_networks: _, ...alone } = entry;
    expect(problemsOf(() => read({ builtin_dispatchers: [wrong, other] }, env))).toEqual([
      'spec.builtin_dispatchers[0].allow_internal_addresses[0]: must be a network as 10.20.0.0/16',
      'spec.builtin_dispatchers[0].allow_internal_addresses[1]: must be a network as 10.20.0.0/16',
      'spec.builtin_dispatchers[0].cluster_networks[0]: must be a network as 10.20.0.0/16',
      'spec.builtin_dispatchers[1].allow_internal_addresses: belongs to the dispatcher web.fetch alone; leave it out',
      'spec.builtin_dispatchers[1].cluster_networks: belongs to the dispatcher web.fetch alone; leave it out',
    ]);
    expect(problemsOf(() => read({ builtin_dispatchers: [alone] }, env))).toEqual([
      'spec.builtin_dispatchers[0].cluster_networks: is required beside allow_internal_addresses: the networks of nodes, pods and Services of this cluster',
    ]);
  });

  it.each(['inherit', 'firecracker', 'docker', 'process'])('takes a RuntimeClass for the isolation %s', (isolation) => {
    expect(read({ isolation: { [isolation]: 'kata' } }).isolation).toEqual({ [isolation]: 'kata' });
    expect(problemsOf(() => read({ isolation: { [isolation]: 'No Name' } }))).toHaveLength(1);
  });

  it('refuses an unknown isolation', () => {
    expect(problemsOf(() => read({ isolation: { jail: 'kata' } }))).toEqual(['spec.isolation.jail: unknown field']);
  });
});

describe('keys of readNodeConfig', () => {
  const keyOf = (api_key: string, from: Environment, readSecret?: ReadSecret): string | undefined =>
    read(withProviders(provider({ api_key })), from, readSecret).llm_providers[0]?.api_key?.reveal();

  it('LLM-05 LLM-17 reads env:VARIABLE, and names the variable that is not set', () => {
    expect(keyOf('env:KEY', env)).toBe(key);
    for (const value of [undefined, '']) {
      expect(problemsOf(() => keyOf('env:KEY', { KEY: value }))).toEqual([
        'spec.llm_providers[0].api_key: the variable KEY is not set; set it, or name another one',
      ]);
    }
    expect(problemsOf(() => keyOf(`env:${key}`, env))).toEqual([
      'spec.llm_providers[0].api_key: must name a variable after env:, as env:OPENAI_API_KEY',
    ]);
  });

  it('LLM-05 reads secret:NAME/KEY below the folder of the Secrets, without the last line break', () => {
    const from = { WINDLASS_NODE_SECRETS: '/secrets' };
    const paths: string[] = [];
    const readSecret: ReadSecret = (path) => {
      paths.push(path);
      return `${key}\n`;
    };
    expect(keyOf('secret:model-keys/open.ai', from, readSecret)).toBe(key);
    expect(paths).toEqual(['/secrets/model-keys/open.ai']);
    expect(problemsOf(() => keyOf('secret:model-keys/openai', from))).toEqual([
      'spec.llm_providers[0].api_key: the Secret model-keys with the key openai is not mounted, or cannot be read',
    ]);
    expect(problemsOf(() => keyOf('secret:model-keys/openai', {}))).toEqual([
      'spec.llm_providers[0].api_key: names a Secret, and WINDLASS_NODE_SECRETS does not say where Secrets are mounted',
    ]);
  });

  it.each(['../x', 'a/../b', '/etc/passwd', 'a', 'a/', '/b', 'a/..', 'a/.x', 'a/b/c', 'A/b'])(
    'never leaves the folder for secret:%s',
    (path) => {
      const readSecret: ReadSecret = () => key;
      expect(problemsOf(() => keyOf(`secret:${path}`, { WINDLASS_NODE_SECRETS: '/secrets' }, readSecret))).toEqual([
        'spec.llm_providers[0].api_key: must name a Secret and its key after secret:, as secret:model-keys/openai',
      ]);
    },
  );

  it('AMB-201 takes a literal with a warning, and refuses it where references are required', () => {
    const warnings: NodeConfigWarning[] = [];
    const text = JSON.stringify({ spec: withProviders(provider({ api_key: key })) });
    const config = readNodeConfig(text, {}, noSecrets, {
      onWarning: (warning) => warnings.push(warning),
    });
    expect(config.llm_providers[0]?.api_key?.reveal()).toBe(key);
    expect(warnings).toEqual([
      {
        path: 'spec.llm_providers[0].api_key',
        message: 'holds the key itself; write env:VARIABLE or secret:NAME/KEY instead',
      },
    ]);
    const strict = { KEY: key, WINDLASS_REQUIRE_KEY_REFERENCES: 'true' };
    expect(problemsOf(() => keyOf(key, strict))).toEqual([
      'spec.llm_providers[0].api_key: must be a reference, env:VARIABLE or secret:NAME/KEY: this installation takes no literal keys',
    ]);
    expect(keyOf('env:KEY', strict)).toBe(key);
  });

  it('refuses a key that no header can carry', () => {
    for (const value of ['two words', 'line\nbreak', 'ä', ' ']) {
      expect(problemsOf(() => keyOf('env:KEY', { KEY: value }))).toHaveLength(1);
    }
  });

  it('LLM-17 shows a key in no text of the configuration', () => {
    const config = read(
      { ...withProviders(provider()), builtin_dispatchers: [{ name: 'web.search', api_key: 'env:KEY' }] },
      env,
    );
    const texts = [JSON.stringify(config), inspect(config, { depth: 9, showHidden: true })];
    for (const text of texts) expect(text).not.toContain(key);
    expect(JSON.stringify(config)).toContain('"api_key":"[secret]"');
    expect(String(config.llm_providers[0]?.api_key)).toBe('[secret]');
  });

  it.each([
    [{ llm_providers: key }, 'spec.llm_providers: must be a list, not a string'],
    [withProviders(provider({ max_concurrency: key })), 'max_concurrency: must be a whole number, not a string'],
    [withProviders(provider({ tokens_per_minute: key })), 'tokens_per_minute: must be a whole number, not a string'],
    [withProviders(provider({ name: `${key}!` })), 'spec.llm_providers[0].name: must match'],
    [withProviders(provider({ type: key })), 'spec.llm_providers[0].type: must be one of'],
    [key, 'spec: must be a map, not a string'],
  ])('shows nothing that was written in the wrong place', (spec, problem) => {
    const problems = problemsOf(() => readNodeConfig(JSON.stringify({ spec }), env, noSecrets));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it.each([
    `spec: *${key}`,
    `spec: "${key}`,
    `spec: [${key}`,
    `spec: {a: !<${key}> b}`,
    `- ${key}\nspec: 1`,
    `%${key}\n`,
  ])('shows nothing of a text that is no YAML: %s', (text) => {
    expect(problemsOf(() => readNodeConfig(text, env, noSecrets)).length).toBeGreaterThan(0);
  });
});

describe('bounds of readNodeConfig', () => {
  const padded = (bytes: number): string => {
    const text = JSON.stringify({ spec: {} });
    return text + ' '.repeat(bytes - text.length);
  };

  it('reads 256 KiB and no more', () => {
    expect(problemsOf(() => readNodeConfig(padded(262_144), {}))).toEqual([]);
    expect(problemsOf(() => readNodeConfig(padded(262_145), {}))).toEqual([
      'node configuration: has 262145 bytes; at most 262144 are read',
    ]);
  });

  it.each([49, 50, 51])('takes 50 providers, and is given %i', (count) => {
    const providers = Array.from({ length: count }, (_, index) => provider({ name: `p${index}` }));
    expect(problemsOf(() => read(withProviders(...providers), env))).toEqual(
      count > 50 ? ['spec.llm_providers: must have at most 50 items'] : [],
    );
  });

  it.each([199, 200, 201])('takes 200 models of a provider, and is given %i', (count) => {
    const models = Array.from({ length: count }, (_, index) => ({ alias: `a${index}`, model: 'm' }));
    expect(problemsOf(() => read(withProviders(provider({ models })), env))).toEqual(
      count > 200 ? ['spec.llm_providers[0].models: must have at most 200 items'] : [],
    );
  });

  it.each(['', '# nothing', 'spec: {}\n---\nspec: {}', '[]', 'null', 'text'])('refuses %j as a whole', (text) => {
    expect(problemsOf(() => readNodeConfig(text, {}))).toHaveLength(1);
  });
});

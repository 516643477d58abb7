import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import { readNodeConfig } from './read-node-config.ts';

const key = 'canary-mcp-key';
const env = { KEY: key, MODEL_KEY: 'canary-model-key' };
const noSecrets = (): string => {
  throw new Error('none');
};
const model = { name: 'cloud', type: 'openai', api_key: 'env:MODEL_KEY', models: [{ alias: 'a', model: 'm' }] };
const read = (servers: readonly object[], keysOf: 'models' | 'mcp' = 'mcp') =>
  readNodeConfig(JSON.stringify({ spec: { llm_providers: [model], mcp_servers: servers } }), env, noSecrets, {
    keysOf,
  });
const server = (fields: object = {}) => ({ name: 'notes', url: 'https://notes.example/mcp', ...fields });

function problemsOf(...servers: object[]): string[] {
  try {
    read(servers);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ name, problem }) => `${name.replace('spec.mcp_servers', '')}: ${problem}`);
  }
  return [];
}

describe('spec.mcp_servers', () => {
  it('TOOL-RULE-04 gives every entry, with defaults', () => {
    const full = {
      api_key: 'env:KEY',
      api_key_header: 'X-Key',
      tenants: ['acme'],
      tools: ['note_*'],
      allow_internal_addresses: ['10.0.0.0/8', 'fd00::/8'],
      timeout_secs: 5,
      capabilities: [{ name: 'note_read', skip_judge: true }],
    };
    const config = read([server({ ...full, transport: 'streamable-http' }), server({ name: 'plain' })]);
    expect(config.mcp_servers).toEqual([
      { ...server(), ...full, api_key: expect.anything() },
      { ...server({ name: 'plain' }), allow_internal_addresses: [], capabilities: [] },
    ]);
    expect(config.mcp_servers[0]?.api_key?.reveal()).toBe(key);
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('canary');
  });

  it('LLM-17 a process reads the keys of those alone that it calls', () => {
    const servers = [server({ api_key: 'env:KEY' })];
    const [gateway, api] = [read(servers, 'mcp'), read(servers, 'models')];
    expect([gateway.llm_providers[0]?.api_key, gateway.mcp_servers[0]?.api_key?.reveal()]).toEqual([undefined, key]);
    expect([api.llm_providers[0]?.api_key?.reveal(), api.mcp_servers[0]?.api_key]).toEqual([
      'canary-model-key',
      undefined,
    ]);
  });

  it.each([{ command: 'npx' }, { args: ['-y'] }, { env: {} }, { transport: 'stdio' }])(
    'refuses a server over stdio, and says what to do: %j',
    (fields) => {
      const [field] = Object.keys(fields);
      const message =
        'belongs to a server over stdio, which is not run; run it behind streamable HTTP and give its address as url';
      expect(problemsOf({ name: 'notes', ...fields })).toEqual([`[0].${field}: ${message}`]);
    },
  );

  it.each<[string, object, string]>([
    ['no address', { name: 'notes' }, '[0].url: is required, as https://tools.example.com/mcp'],
    ['another transport', server({ transport: 'sse' }), '[0].transport: must be streamable-http, or be left out'],
    [
      'a password',
      server({ url: 'https://u:p@notes.example' }),
      '[0].url: must be a URL with http or https, without user, query and fragment',
    ],
    [
      'a file',
      server({ url: 'file:///etc/passwd' }),
      '[0].url: must be a URL with http or https, without user, query and fragment',
    ],
    ['a literal key', server({ api_key: key }), '[0].api_key: must be a reference, env:VARIABLE or secret:NAME/KEY'],
    [
      'a key that is not there',
      server({ api_key: 'env:NOTHING' }),
      '[0].api_key: the variable NOTHING is not set; set it, or name another one',
    ],
    [
      'a header without a key',
      server({ api_key_header: 'X-Key' }),
      '[0].api_key_header: names the header of api_key, which is not given',
    ],
    [
      'a header of the protocol',
      server({ api_key: 'env:KEY', api_key_header: 'Mcp-Session-Id' }),
      '[0].api_key_header: is a header of the protocol; give another one',
    ],
    [
      'a name of built-in tools',
      server({ name: 'web' }),
      '[0].name: begins the names of built-in tools; give another one',
    ],
    [
      'no network',
      server({ allow_internal_addresses: ['10.0.0.0/33'] }),
      '[0].allow_internal_addresses[0]: must be a network as 10.20.0.0/16',
    ],
    [
      'an address',
      server({ allow_internal_addresses: ['10.0.0.1'] }),
      '[0].allow_internal_addresses[0]: must be a network as 10.20.0.0/16',
    ],
  ])('refuses %s', (_title, entry, problem) => {
    expect(problemsOf(entry)).toEqual([problem]);
  });

  it('refuses a name that comes twice', () => {
    expect(problemsOf(server(), server())).toEqual(['[1].name: is given twice; keep one']);
  });
});
